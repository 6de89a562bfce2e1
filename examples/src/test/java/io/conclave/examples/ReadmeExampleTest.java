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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a new user tries first: the examples of the README and of docs, compiled as they stand there. The README's first
 * one is run as well. A block that begins with an import is a whole file; any other is the body of a method. A block
 * marked {@code ```java before} shows another library's code and is not compiled.
 */
class ReadmeExampleTest {
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private static final Pattern CLASS = Pattern.compile("^(?:public )?class (\\w+)", Pattern.MULTILINE);
    private static final Path TOP = top();

    /** What the shorter examples take for granted. */
    private static final String SURROUNDINGS = """
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
            import java.sql.Connection;
            import java.time.Duration;
            import java.time.Instant;
            import java.util.*;
            import java.util.concurrent.*;

            public class Example%d {
                interface Billing {
                    void run(FencingToken token) throws Exception;
                }

                Coordinator coordinator;
                DistributedLock lock;
                Connection connection;
                Billing billing;
                Participant participant;
                Iterator<Runnable> steps;
                byte[] data = {1, 2, 3};
                byte[] order;

                void work(String what) throws InterruptedException {}

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
        assertTrue(examples.size() >= 4, "found only " + examples.size());
        compile(folder, sourcesOf(examples.subList(1, examples.size())));
    }

    @Test
    void examplesOfTheDocsCompile(@TempDir Path folder) throws Exception {
        List<Path> pages;
        try (Stream<Path> files = Files.walk(TOP.resolve("docs"))) {
            pages = files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
        List<String> examples = new ArrayList<>();
        for (Path page : pages) {
            examples.addAll(examplesOf(page));
        }
        assertTrue(examples.size() >= 20, "found only " + examples.size());
        compile(folder, sourcesOf(examples));
    }

    /** They assert what they show, so they are run as well. */
    @Test
    void examplesOfTheTestingDocumentHold(@TempDir Path folder) throws Exception {
        Map<String, String> sources = sourcesOf(examplesOf(TOP.resolve("docs/testing.md")));
        compile(folder, sources);
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            for (String name : sources.keySet()) {
                Class<?> example = loader.loadClass(name);
                example.getMethod("example").invoke(example.getConstructor().newInstance());
            }
        }
    }

    private static Map<String, String> sourcesOf(List<String> examples) {
        Map<String, String> sources = new HashMap<>();
        for (int i = 0; i < examples.size(); i++) {
            String example = examples.get(i);
            Matcher name = CLASS.matcher(example);
            if (example.startsWith("import ") && name.find()) {
                sources.put(name.group(1), example);
            } else {
                sources.put("Example" + i, SURROUNDINGS.formatted(i, example));
            }
        }
        return sources;
    }

    private static List<String> examples() throws IOException {
        return examplesOf(TOP.resolve("README.md"));
    }

    private static List<String> examplesOf(Path page) throws IOException {
        return EXAMPLE.matcher(Files.readString(page))
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
        assertEquals(0, status, "an example does not compile: see what the compiler has printed");
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
