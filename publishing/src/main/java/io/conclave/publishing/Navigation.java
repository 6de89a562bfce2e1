package io.conclave.publishing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.commonmark.ext.gfm.tables.TableRow;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.CustomNode;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;

/**
 * What stands beside each page: the table of contents, docs/README.md, and below a folder's page those of the folder.
 */
final class Navigation {
    private final Path project;
    private final List<Entry> entries;

    /** A heading, if there is no target; else a page or a folder. */
    private record Entry(String text, Path target, boolean isHeading, List<Entry> below) {}

    Navigation(Path project) throws IOException {
        this.project = project;
        Path contents = project.resolve("docs/README.md");
        entries = new ArrayList<>();
        for (Entry entry : read(contents)) {
            boolean isFolder = entry.target.endsWith("README.md") && !entry.isHeading;
            List<Entry> below = isFolder
                    ? read(entry.target).stream()
                            .filter(page -> !page.isHeading && inOneFolder(entry.target, page.target))
                            .toList()
                    : List.of();
            entries.add(new Entry(entry.text, entry.target, entry.isHeading, below));
        }
    }

    private static List<Entry> read(Path document) throws IOException {
        List<Entry> entries = new ArrayList<>();
        Markdown.of(Files.readString(document)).document().accept(new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                if (heading.getLevel() == 2) {
                    entries.add(new Entry(Markdown.text(heading), document, true, List.of()));
                }
            }

            @Override
            public void visit(CustomNode node) {
                if (node instanceof TableRow) {
                    if (node.getFirstChild().getFirstChild() instanceof Link link) {
                        Path target = document.resolveSibling(
                                        link.getDestination().replaceFirst("#.*", ""))
                                .normalize();
                        entries.add(new Entry(Markdown.text(link), target, false, List.of()));
                    }
                } else {
                    visitChildren(node);
                }
            }
        });
        return entries;
    }

    /** Takes the document that it stands beside, and the way from there to the top of the site. */
    String html(Path document, String up) {
        StringBuilder html = new StringBuilder();
        html.append("<a class=\"home\" href=\"").append(up).append("README.html\">Conclave</a>\n");
        for (Entry entry : entries) {
            if (entry.isHeading) {
                html.append("<h2>").append(Page.escaped(entry.text)).append("</h2>\n");
            } else {
                append(html, entry, document, up, "");
                if (inOneFolder(document, entry.target)) {
                    entry.below.forEach(page -> append(html, page, document, up, "below "));
                }
            }
        }
        html.append("<h2>Reference</h2>\n<a href=\"").append(up).append("javadoc/index.html\">Javadoc</a>\n");
        return html.toString();
    }

    private static boolean inOneFolder(Path one, Path other) {
        return one.resolveSibling("").equals(other.resolveSibling(""));
    }

    private void append(StringBuilder html, Entry entry, Path document, String up, String style) {
        String path = project.relativize(entry.target).toString().replace('\\', '/');
        html.append("<a class=\"")
                .append(style)
                .append(entry.target.equals(document) ? "here" : "")
                .append("\" href=\"")
                .append(up)
                .append(Files.isDirectory(entry.target) ? path + "/index.html" : Site.htmlOf(path))
                .append("\">")
                .append(Page.escaped(entry.text))
                .append("</a>\n");
    }
}
