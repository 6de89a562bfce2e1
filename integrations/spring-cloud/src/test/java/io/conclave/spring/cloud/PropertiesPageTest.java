package io.conclave.spring.cloud;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

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
import org.junit.jupiter.api.Test;

/** The page's table has a line for each property of the metadata, and for no other. */
class PropertiesPageTest {
    private static final Path PAGE = Path.of("../../docs/integrations/spring-cloud.md");
    private static final String METADATA = "META-INF/spring-configuration-metadata.json"; // in other jars, too
    private static final String PREFIX = "conclave.discovery.";
    private static final Pattern LINE = Pattern.compile("(?m)^\\| (`[a-z][^|]*)\\|");
    private static final Pattern NAMED = Pattern.compile("\"name\": *\"([^\"]*)\"");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)```properties\n(.*?)```");
    private static final Pattern KEY = Pattern.compile("(?m)^([^#=]+)=");
    private static final Pattern NAME = Pattern.compile("`([a-z-]+)(?:\\.\\*)?`");

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
