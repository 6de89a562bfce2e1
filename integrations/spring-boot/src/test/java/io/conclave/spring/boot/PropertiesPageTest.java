package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** The page's table has a line for each property of the metadata, and for no other. */
class PropertiesPageTest {
    private static final Path PAGE = Path.of("../../docs/integrations/spring-boot.md");
    private static final String METADATA = "META-INF/spring-configuration-metadata.json"; // in other jars, too
    private static final Pattern LINE = Pattern.compile("(?m)^\\| (`conclave\\.[^|]*)\\|");
    private static final Pattern NAMED = Pattern.compile("\"name\": *\"([^\"]*)\"");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)```properties\n(.*?)```");
    private static final Pattern NAME = Pattern.compile("`([^`]+)`");

    @Test
    void tableOfPropertiesIsThatOfTheMetadata() throws IOException {
        Set<String> ours = inMetadata();
        ours.removeIf(name -> !name.startsWith("conclave."));
        assertThat(onPage()).isEqualTo(ours);
    }

    @Test
    void switchOfTheHealthIsInTheMetadataToo() throws IOException {
        assertThat(inMetadata()).contains("management.health.conclave.enabled");
        assertThat(Files.readString(PAGE)).contains("`management.health.conclave.enabled=false`");
    }

    @Test
    void propertiesOfTheExamplesAreKnownAndTheirValuesAreValid() throws IOException {
        Set<String> known = inMetadata();
        List<MatchResult> examples = matches(EXAMPLE, Files.readString(PAGE));
        assertThat(examples).hasSizeGreaterThan(1);
        for (MatchResult example : examples) {
            Properties properties = new Properties();
            properties.load(new StringReader(example.group(1)));
            assertThat(known).containsAll(properties.stringPropertyNames());
            ConclaveProperties bound = new Binder(new MapConfigurationPropertySource(properties))
                    .bind(
                            "conclave",
                            Bindable.of(ConclaveProperties.class),
                            new NoUnboundElementsBindHandler(BindHandler.DEFAULT)) // refuses what is unknown
                    .get();
            new CoordinatorSettings(bound).builder(Objects.requireNonNull(bound.getConnectString()));
        }
    }

    /** What begins with a dot has the group of the name before it. */
    private static Set<String> onPage() throws IOException {
        Set<String> names = new TreeSet<>();
        for (MatchResult line : matches(LINE, Files.readString(PAGE))) {
            String group = "";
            for (MatchResult name : matches(NAME, line.group(1))) {
                String found = name.group(1);
                names.add(found.startsWith(".") ? group + found : found);
                group = found.startsWith(".") ? group : found.substring(0, found.lastIndexOf('.'));
            }
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
