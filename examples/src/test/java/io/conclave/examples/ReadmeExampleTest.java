package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a stranger tries first: the README's examples, compiled as they stand there; the first one is run as well. */
class ReadmeExampleTest {
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    /** What the shorter examples take for granted. */
    private static final String SURROUNDINGS = """
            import io.conclave.config.*;
            import io.conclave.coordinator.*;
            import io.conclave.election.*;
            import io.conclave.ensemble.ConclaveEnsemble;
            import io.conclave.grant.*;
            import io.conclave.locks.*;
            import io.conclave.membership.*;
            import io.conclave.node.*;
            import io.conclave.spi.SetData;
            import java.sql.Connection;
            import java.time.Duration;
            import java.util.Iterator;
            import java.util.concurrent.CompletableFuture;

            abstract class Example%d {
                interface Billing {
                    void run(FencingToken token) throws Exception;
                }

                Coordinator coordinator;
                DistributedLock lock;
                Connection connection;
                Billing billing;
                Iterator<Runnable> steps;
                byte[] data;

                void example() throws Exception {
                    %s
                }
            }
            """;

    @Test
    void firstExampleOfTheReadmeCompilesAndRuns(@TempDir Path folder) throws Exception {
        compile(folder, Map.of("FirstLock", examples().get(0)));
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            String output = outputOf(() -> loader.loadClass("FirstLock")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]));
            assertTrue(output.contains("token"), output);
        }
    }

    @Test
    void otherExamplesOfTheReadmeCompile(@TempDir Path folder) throws Exception {
        List<String> examples = examples();
        assertTrue(examples.size() >= 8, "found only " + examples.size());
        Map<String, String> classes = new HashMap<>();
        for (int i = 1; i < examples.size(); i++) {
            classes.put("Example" + i, SURROUNDINGS.formatted(i, examples.get(i)));
        }
        compile(folder, classes);
    }

    private static List<String> examples() throws IOException {
        return EXAMPLE.matcher(Files.readString(Path.of("../README.md")))
                .results()
                .map(example -> example.group(1))
                .toList();
    }

    private static void compile(Path folder, Map<String, String> textsByClass) throws IOException {
        List<String> options =
                new ArrayList<>(List.of("-cp", System.getProperty("java.class.path"), "-d", folder.toString()));
        for (Map.Entry<String, String> one : textsByClass.entrySet()) {
            Path source = folder.resolve(one.getKey() + ".java");
            Files.writeString(source, one.getValue());
            options.add(source.toString());
        }
        int status = ToolProvider.getSystemJavaCompiler().run(null, null, null, options.toArray(String[]::new));
        assertEquals(0, status, () -> "an example of the README does not compile: " + textsByClass);
    }

    @Test
    void firstLockRuns() throws Exception {
        String output = outputOf(() -> {
            FirstLock.main(new String[0]);
            return null;
        });
        assertTrue(output.startsWith("Held for at least PT"), output);
    }

    private interface Program {
        Object run() throws Exception;
    }

    private static String outputOf(Program program) throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            program.run();
        } finally {
            System.setOut(console);
        }
        return output.toString(StandardCharsets.UTF_8);
    }
}
