package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteTest {
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"([^\"]+)\"");

    @TempDir
    private static Path site;

    @BeforeAll
    static void build() throws IOException {
        Site.build(Path.of(".."), site);
    }

    @Test
    void everyLinkOfTheSiteLeadsToAFileAndAnAnchor() throws IOException {
        List<Path> pages;
        try (Stream<Path> files = Files.walk(site)) {
            pages = files.filter(file -> file.toString().endsWith(".html")).toList();
        }
        List<String> broken = new ArrayList<>();
        for (Path page : pages) {
            Matcher link = LINK.matcher(Files.readString(page));
            while (link.find()) {
                String target = link.group(1);
                if (!Links.leadsElsewhere(target) && !target.contains("javadoc/") && !leadsSomewhere(page, target)) {
                    broken.add(site.relativize(page) + ": " + target);
                }
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(pages.size() > 60, pages.size() + " pages");
    }

    private static boolean leadsSomewhere(Path page, String target) throws IOException {
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        Path linked = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        return Files.isRegularFile(linked)
                && (hash < 0 || Files.readString(linked).contains("id=\"" + target.substring(hash + 1) + "\""));
    }

    @Test
    void picturesAreDrawnByTheScriptOfTheSite() throws IOException {
        String locks = Files.readString(site.resolve("docs/recipes/locks.html"));
        assertTrue(locks.contains("<pre class=\"mermaid\">"));
        assertTrue(locks.contains("<script src=\"../../mermaid.min.js\">"));
        assertTrue(Files.size(site.resolve("mermaid.min.js")) > 100_000);
        assertFalse(Files.readString(site.resolve("docs/failures.html")).contains("<script"));
    }
}
