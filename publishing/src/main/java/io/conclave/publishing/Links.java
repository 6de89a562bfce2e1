package io.conclave.publishing;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Follows the links of the documents that stay within the project. */
final class Links {
    private static final List<String> AT_THE_ROOT =
            List.of("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md");
    private static final Pattern ELSEWHERE = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]*:.*|//.*");

    private final Path root;

    private Links(Path root) {
        this.root = root;
    }

    /** One line for each link that leads nowhere: file, line, link, and what is missing. */
    static List<String> broken(Path project) throws IOException {
        Links links = new Links(project.toRealPath());
        List<String> broken = new ArrayList<>();
        for (Path document : documents(links.root)) {
            for (Markdown.Target link : Markdown.of(Files.readString(document)).links()) {
                String reason = links.reason(document, link.target());
                if (!reason.isEmpty()) {
                    broken.add(links.root.relativize(document) + ":" + link.line() + ": (" + link.target() + ") "
                            + reason);
                }
            }
        }
        return broken;
    }

    /** The documents: those at the root, and all of docs. */
    static List<Path> documents(Path root) throws IOException {
        List<Path> documents = new ArrayList<>();
        AT_THE_ROOT.forEach(name -> documents.add(root.resolve(name)));
        try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
            files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(documents::add);
        }
        return documents;
    }

    /** Whether a link leads out of the documents, into the web. */
    static boolean leadsElsewhere(String target) {
        return ELSEWHERE.matcher(target).matches();
    }

    private String reason(Path document, String target) throws IOException {
        if (leadsElsewhere(target)) {
            return "";
        }
        int hash = target.indexOf('#');
        String file = URLDecoder.decode(
                (hash < 0 ? target : target.substring(0, hash)).replace("+", "%2B"), StandardCharsets.UTF_8);
        Path linked = file.isEmpty() ? document : document.resolveSibling(file).normalize();
        if (!linked.startsWith(root) || file.startsWith("/")) {
            return "leads out of the project";
        }
        if (!Files.exists(linked) || !linked.toRealPath().equals(linked)) { // exactly so, on every file system
            return "no such file";
        }
        if (hash < 0 || !linked.toString().endsWith(".md")) {
            return "";
        }
        String anchor = target.substring(hash + 1);
        boolean there = Markdown.of(Files.readString(linked)).anchors().containsValue(anchor);
        return there ? "" : "no such heading in " + root.relativize(linked);
    }
}
