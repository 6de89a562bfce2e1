package io.conclave.publishing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.NodeRenderer;
import org.commonmark.renderer.html.HtmlNodeRendererContext;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.html.HtmlWriter;

/**
 * A document as HTML. Headings have the anchors of GitHub, and Mermaid's pictures are drawn by its script.
 *
 * @param title its first heading, as HTML
 */
record Page(String title, String body, boolean hasPictures) {
    private static final List<Extension> TABLES = List.of(TablesExtension.create());
    private static final Parser PARSER = Parser.builder().extensions(TABLES).build();

    /** Takes what a link of the document is on the site. */
    static Page of(String markdown, UnaryOperator<String> links) {
        Node document = parse(markdown);
        Survey survey = new Survey(links);
        document.accept(survey);
        HtmlRenderer renderer = HtmlRenderer.builder()
                .extensions(TABLES)
                .nodeRendererFactory(Fences::new)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    String anchor = survey.anchors.get(node);
                    if (anchor != null) {
                        attributes.put("id", anchor);
                    }
                })
                .build();
        return new Page(survey.title, renderer.render(document), survey.hasPictures);
    }

    static Node parse(String markdown) {
        return PARSER.parse(markdown);
    }

    /** The words of a node, without marks. */
    static String text(Node node) {
        StringBuilder text = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text words) {
                text.append(words.getLiteral());
            }

            @Override
            public void visit(Code code) {
                text.append(code.getLiteral());
            }
        });
        return text.toString();
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    /** Finds the anchors, and changes the links into those of the site. */
    private static final class Survey extends AbstractVisitor {
        private final UnaryOperator<String> links;
        private final Map<Node, String> anchors = new HashMap<>();
        private final Map<String, Integer> seen = new HashMap<>();
        private String title = "";
        private boolean hasPictures;

        Survey(UnaryOperator<String> links) {
            this.links = links;
        }

        @Override
        public void visit(Heading heading) {
            String text = text(heading);
            if (title.isEmpty()) {
                title = escaped(text);
            }
            String anchor = Markdown.anchor(text);
            int before = seen.merge(anchor, 1, Integer::sum) - 1;
            anchors.put(heading, before == 0 ? anchor : anchor + "-" + before);
            visitChildren(heading);
        }

        @Override
        public void visit(Link link) {
            link.setDestination(links.apply(link.getDestination()));
            visitChildren(link);
        }

        @Override
        public void visit(Image image) {
            image.setDestination(links.apply(image.getDestination()));
        }

        @Override
        public void visit(FencedCodeBlock block) {
            hasPictures |= block.getInfo().equals("mermaid");
        }
    }

    /** Writes blocks of code, and Mermaid's as its script wants them. */
    private static final class Fences implements NodeRenderer {
        private final HtmlWriter html;

        Fences(HtmlNodeRendererContext context) {
            html = context.getWriter();
        }

        @Override
        public Set<Class<? extends Node>> getNodeTypes() {
            return Set.of(FencedCodeBlock.class);
        }

        @Override
        public void render(Node node) {
            FencedCodeBlock block = (FencedCodeBlock) node;
            boolean isPicture = block.getInfo().equals("mermaid");
            html.line();
            html.tag("pre", isPicture ? Map.of("class", "mermaid") : Map.of());
            if (!isPicture) {
                html.tag("code");
            }
            html.text(block.getLiteral());
            if (!isPicture) {
                html.tag("/code");
            }
            html.tag("/pre");
            html.line();
        }
    }
}
