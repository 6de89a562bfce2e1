package io.conclave.spring.cloud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The page's table has a line for each property of the metadata, and for no other. A property that any page names is in
 * the metadata of this module, of the starter, or of Spring.
 */
class PropertiesPageTest {
    private static final Path TOP = Path.of("../..");
    private static final Path PAGE = TOP.resolve("docs/integrations/spring-cloud.md");
    private static final String METADATA = "META-INF/spring-configuration-metadata.json"; // in other jars, too
    private static final String PREFIX = "conclave.discovery.";
    private static final Pattern LINE = Pattern.compile("(?m)^\\| (`[a-z][^|]*)\\|");
    private static final Pattern NAMED = Pattern.compile("\"name\": *\"([^\"]*)\"");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)```properties\n(.*?)```");
    private static final Pattern KEY = Pattern.compile("(?m)^([^#=]+)=");
    private static final Pattern NAME = Pattern.compile("`([a-z-]+)(?:\\.\\*)?`");
    private static final Path METERS = Path.of("micrometer.md"); // has names of its own, and a test of them
    private static final Set<String> WITHOUT_METADATA = Set.of(
            "spring.cloud.discovery.blocking.enabled", // these two: SpringCloudTest
            "spring.cloud.discovery.reactive.enabled",
            "spring.cloud.loadbalancer.cache.ttl", // of a module that is not here
            "management.port"); // what a registration tells, no property
    private static final Pattern NAMED_BY_A_PAGE =
            Pattern.compile("`((?:conclave|spring|management)\\.[a-z0-9.-]*[a-z0-9])(?:=[^`]*)?`");

    @Test
    void tableOfPropertiesIsThatOfTheMetadata() throws IOException {
        Set<String> ours = inMetadata();
        ours.removeIf(name -> !name.startsWith(PREFIX));
        assertEquals(ours, onPage());
    }

    /** The starter's own tests have what their values may be. */
    @Test
    void propertiesOfTheExampleAreInTheMetadata() throws IOException {
        Set<String> names = new TreeSet<>();
        for (MatchResult example : matches(EXAMPLE, Files.readString(PAGE))) {
            matches(KEY, example.group(1)).forEach(key -> names.add(key.group(1)));
        }
        assertFalse(names.isEmpty(), "the example was not found");
        names.removeAll(inMetadata());
        assertEquals(Set.of(), names);
    }

    @Test
    void propertiesThatAnyPageNamesExist() throws IOException {
        Set<String> known = inMetadata();
        known.addAll(WITHOUT_METADATA);
        matches(Pattern.compile("<(conclave\\.[a-z.]+)>"), Files.readString(TOP.resolve("pom.xml")))
                .forEach(ofTheBuild -> known.add(ofTheBuild.group(1)));
        Set<String> missing = new TreeSet<>();
        int named = 0;
        for (Path page : pages()) {
            for (MatchResult name : matches(NAMED_BY_A_PAGE, Files.readString(page))) {
                named++;
                if (!known.contains(name.group(1))) {
                    missing.add(TOP.relativize(page) + ": " + name.group(1));
                }
            }
        }
        assertEquals(Set.of(), missing);
        assertTrue(named > 30, "the names were not found");
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(TOP);
                Stream<Path> docs = Files.walk(TOP.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md") && !file.endsWith(METERS))
                    .toList();
        }
    }

    private static Set<String> onPage() throws IOException {
        Set<String> names = new TreeSet<>();
        for (MatchResult line : matches(LINE, Files.readString(PAGE))) {
            matches(NAME, line.group(1)).forEach(name -> names.add(PREFIX + name.group(1)));
        }
        return names;
    }

    private static List<MatchResult> matches(Pattern pattern, String text) {
        return pattern.matcher(text).results().toList();
    }

    /** A pattern finds the names, for not every class path of the tests has a JSON parser. */
    private Set<String> inMetadata() throws IOException {
        Set<String> names = new TreeSet<>();
        for (URL url : Collections.list(getClass().getClassLoader().getResources(METADATA))) {
            try (InputStream in = url.openStream()) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                String properties =
                        text.substring(text.indexOf("\"properties\"")).split("\"hints\"", 2)[0];
                matches(NAMED, properties).forEach(name -> names.add(name.group(1)));
            }
        }
        return names;
    }
}
