package io.conclave.publishing;

import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
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
    /** Takes what a link of the document is on the site. */
    static Page of(String markdown, UnaryOperator<String> links) {
        Markdown text = Markdown.of(markdown);
        Survey survey = new Survey(links);
        text.document().accept(survey);
        HtmlRenderer renderer = HtmlRenderer.builder()
                .extensions(Markdown.TABLES)
                .nodeRendererFactory(Fences::new)
                .attributeProviderFactory(context -> (node, tag, attributes) -> {
                    if (node instanceof Heading heading) {
                        attributes.put("id", text.anchors().get(heading));
                    }
                })
                .build();
        return new Page(escaped(text.title()), renderer.render(text.document()), survey.hasPictures);
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    /** Changes the links into those of the site, and looks for pictures that are drawn. */
    private static final class Survey extends AbstractVisitor {
        private final UnaryOperator<String> links;
        private boolean hasPictures;

        Survey(UnaryOperator<String> links) {
            this.links = links;
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
