package io.conclave.publishing;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.LinkReferenceDefinition;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/**
 * What one Markdown text links to, and what of it can be linked to.
 *
 * @param document the text, parsed
 * @param links the targets of all links, pictures and definitions, in their order
 * @param anchors the anchor of each heading, in their order, as GitHub makes it: one that comes again has a number
 *     behind
 */
record Markdown(Node document, List<Target> links, Map<Heading, String> anchors) {
    static final List<Extension> TABLES = List.of(TablesExtension.create());

    private static final Parser PARSER = Parser.builder()
            .extensions(TABLES)
            .includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES)
            .build();
    private static final Pattern NOT_IN_ANCHORS = Pattern.compile("[^\\p{L}\\p{M}\\p{N}\\p{Pc}\\- ]");

    /** Where a link leads, and the line it is in, counted from 1. */
    record Target(int line, String target) {}

    static Markdown of(String text) {
        Node document = PARSER.parse(text);
        List<Target> links = new ArrayList<>();
        Map<Heading, String> anchors = new LinkedHashMap<>();
        Map<String, Integer> seen = new HashMap<>();
        document.accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                String anchor = anchor(text(heading));
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.put(heading, before == 0 ? anchor : anchor + "-" + before);
                visitChildren(heading);
            }

            @Override
            public void visit(Link link) {
                add(link, link.getDestination());
            }

            @Override
            public void visit(Image image) {
                add(image, image.getDestination());
            }

            @Override
            public void visit(LinkReferenceDefinition definition) {
                add(definition, definition.getDestination());
            }

            private void add(Node node, String target) {
                links.add(new Target(node.getSourceSpans().get(0).getLineIndex() + 1, target));
                visitChildren(node);
            }
        });
        return new Markdown(document, links, anchors);
    }

    /** The anchor of a heading that comes once. */
    private static String anchor(String heading) {
        return NOT_IN_ANCHORS
                .matcher(heading.strip().toLowerCase(Locale.ROOT))
                .replaceAll("")
                .replace(' ', '-');
    }

    /** Its first heading; empty if it has none. */
    String title() {
        return anchors.keySet().stream().findFirst().map(Markdown::text).orElse("");
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
}
