package io.conclave.publishing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Makes a site of the documents: a page for each, in the folders that they are in, and a copy of each other file that
 * they link to. Run by scripts/site, which adds the Javadoc.
 */
public final class Site {
    private static final String MERMAID = "META-INF/resources/webjars/mermaid/";
    private static final String STYLE = "style.css";
    private static final String SCRIPT = "mermaid.min.js";

    private final Path project;
    private final Path target;
    private final Navigation navigation;
    private final Deque<Path> toCopy = new ArrayDeque<>();

    private Site(Path project, Path target) throws IOException {
        this.project = project;
        this.target = target;
        this.navigation = new Navigation(project);
    }

    /** Takes the folder of the project and the one of the site. */
    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            System.err.println("usage: Site <folder of the project> <folder of the site>");
            System.exit(2);
        }
        int pages = build(Path.of(arguments[0]), Path.of(arguments[1]));
        System.out.println(pages + " pages in " + arguments[1]);
    }

    /** Returns how many pages it made. */
    static int build(Path project, Path target) throws IOException {
        Site site = new Site(project.toRealPath(), target);
        List<Path> documents = Links.documents(site.project);
        for (Path document : documents) {
            site.write(document, Page.of(Files.readString(document), link -> site.linked(document, link)));
        }
        int folders = site.copyLinked();
        Files.writeString(
                target.resolve("index.html"),
                "<!DOCTYPE html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url=README.html\">"
                        + "<a href=\"README.html\">Conclave</a>");
        try (InputStream style = Site.class.getResourceAsStream(STYLE)) {
            Files.copy(style, target.resolve(STYLE), StandardCopyOption.REPLACE_EXISTING);
        }
        try (InputStream script = mermaid().openStream()) {
            Files.copy(script, target.resolve(SCRIPT), StandardCopyOption.REPLACE_EXISTING);
        }
        return documents.size() + folders;
    }

    private void write(Path document, Page page) throws IOException {
        Path file = target.resolve(htmlOf(project.relativize(document).toString()));
        Files.createDirectories(file.getParent());
        String up = "../".repeat(project.relativize(document).getNameCount() - 1);
        String script = page.hasPictures()
                ? "<script src=\"" + up + SCRIPT
                        + "\"></script><script>mermaid.initialize({startOnLoad: true});</script>"
                : "";
        Files.writeString(
                file, """
                <!DOCTYPE html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width">
                <title>%s - Conclave</title>
                <link rel="stylesheet" href="%s">
                </head>
                <body>
                <nav>
                %s</nav>
                <main>
                %s</main>
                %s
                </body>
                </html>
                """.formatted(page.title(), up + STYLE, navigation.html(document, up), page.body(), script));
    }

    /** What a link of the documents is on the site. */
    private String linked(Path document, String link) {
        if (Links.leadsElsewhere(link) || link.startsWith("#")) {
            return link;
        }
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path linked = document.resolveSibling(file).normalize();
        if (Files.isDirectory(linked)) {
            toCopy.add(linked);
            return file + (file.endsWith("/") ? "" : "/") + "index.html";
        }
        if (!file.endsWith(".md")) {
            toCopy.add(linked);
        }
        return htmlOf(file) + (hash < 0 ? "" : link.substring(hash));
    }

    static String htmlOf(String file) {
        return file.endsWith(".md") ? file.substring(0, file.length() - ".md".length()) + ".html" : file;
    }

    /** Copies the files that were linked to, and lists the folders. Returns how many folders. */
    private int copyLinked() throws IOException {
        Set<Path> done = new HashSet<>();
        int folders = 0;
        while (!toCopy.isEmpty()) {
            Path next = toCopy.remove();
            if (!done.add(next)) {
                continue;
            }
            if (Files.isDirectory(next)) {
                folders++;
                Path index = next.resolve("index.md"); // which need not be there
                write(index, Page.of(list(next), link -> linked(index, link)));
            } else {
                Path copy = target.resolve(project.relativize(next).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(next, copy, StandardCopyOption.REPLACE_EXISTING);
            }
        }
        return folders;
    }

    private String list(Path folder) throws IOException {
        List<String> lines = new ArrayList<>(List.of("# " + project.relativize(folder)));
        try (Stream<Path> files = Files.list(folder)) {
            files.filter(Files::isRegularFile).sorted().forEach(file -> {
                String name = file.getFileName().toString();
                lines.add("- [" + (name.endsWith(".md") ? title(file) : name) + "](" + name + ")");
            });
        }
        return String.join("\n", lines);
    }

    private static String title(Path document) {
        try {
            return Markdown.of(Files.readString(document)).title();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static URL mermaid() throws IOException {
        try (InputStream properties =
                Site.class.getResourceAsStream("/META-INF/maven/org.webjars.npm/mermaid/pom.properties")) {
            Properties read = new Properties();
            read.load(properties);
            return Site.class.getClassLoader().getResource(MERMAID + read.getProperty("version") + "/dist/" + SCRIPT);
        }
    }
}
