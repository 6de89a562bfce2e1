package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * An example in the README or in docs. A block that begins with an import is a whole file; any other is the body of a
 * method. A block marked {@code ```java before} shows another library's code and is none.
 *
 * @param name the page and the number of the example on it, such as {@code docs/fencing.md#2}
 * @param text as it stands there
 * @param number of all examples
 */
record DocumentExample(String name, String text, int number) {
    private static final Path TOP = top();
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern PROPERTIES = Pattern.compile("```properties\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CLASS = Pattern.compile("^(?:public )?(?:final )?class (\\w+)", Pattern.MULTILINE);
    private static final String FILE = """
            import static java.nio.charset.StandardCharsets.UTF_8;
            import static org.junit.jupiter.api.Assertions.*;

            import io.conclave.barriers.*;
            import io.conclave.commit.*;
            import io.conclave.config.*;
            import io.conclave.coordinator.*;
            import io.conclave.discovery.*;
            import io.conclave.election.*;
            import io.conclave.ensemble.*;
            import io.conclave.error.*;
            import io.conclave.grant.*;
            import io.conclave.guards.*;
            import io.conclave.locks.*;
            import io.conclave.membership.*;
            import io.conclave.node.*;
            import io.conclave.queues.*;
            import io.conclave.request.*;
            import io.conclave.session.*;
            import io.conclave.testkit.*;
            import io.conclave.testkit.memory.*;
            import java.nio.file.Path;
            import java.time.Duration;
            import java.time.Instant;
            import java.util.*;
            import java.util.concurrent.*;

            public class %s extends io.conclave.examples.Surroundings {
                @Override
                public void example() throws Exception {
                    %s
                }
            }
            """;

    private static Path top() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/metrics.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** All examples, those of the README first. */
    static List<DocumentExample> all() {
        List<Path> pages = new ArrayList<>(List.of(TOP.resolve("README.md")));
        List<DocumentExample> examples = new ArrayList<>();
        try (Stream<Path> docs = Files.walk(TOP.resolve("docs"))) {
            docs.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
            for (Path page : pages) {
                String name = TOP.relativize(page).toString().replace('\\', '/');
                List<String> texts = EXAMPLE.matcher(Files.readString(page))
                        .results()
                        .map(block -> block.group(1))
                        .toList();
                for (int i = 0; i < texts.size(); i++) {
                    examples.add(new DocumentExample(name + "#" + (i + 1), texts.get(i), examples.size()));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return examples;
    }

    /** The properties in a block of a page, which is counted from 1. */
    static Properties properties(String page, int number) throws IOException {
        List<String> blocks = PROPERTIES
                .matcher(Files.readString(TOP.resolve(page)))
                .results()
                .map(block -> block.group(1))
                .toList();
        Properties properties = new Properties();
        properties.load(new StringReader(blocks.get(number - 1)));
        return properties;
    }

    /** Whether a key such as {@code docs/fencing.md: StoreGuard} means this one: its page, and a word in it. */
    boolean is(String key) {
        String[] pageAndWord = key.split(": ", 2);
        return name.startsWith(pageAndWord[0] + "#") && text.contains(pageAndWord[1]);
    }

    boolean isFile() {
        return text.startsWith("import ");
    }

    String className() {
        Matcher declared = CLASS.matcher(text);
        return isFile() && declared.find() ? declared.group(1) : "Example" + number;
    }

    private String source() {
        return isFile() ? text : FILE.formatted(className(), text);
    }

    /** Compiles examples with the class path of this test, after a change. */
    static void compile(Path folder, List<DocumentExample> examples, UnaryOperator<String> change) throws IOException {
        List<String> options =
                new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"), "-d", folder.toString()));
        options.add("-parameters"); // as Spring Boot's plugins do
        for (DocumentExample example : examples) {
            Path source = folder.resolve(example.className() + ".java");
            Files.writeString(source, change.apply(example.source()));
            options.add(source.toString());
        }
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new));
        assertEquals(0, status, "an example does not compile: see what the compiler has printed");
    }
}
