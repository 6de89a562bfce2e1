package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first thing that a stranger tries: the README's example, compiled and run as it stands there. */
class ReadmeExampleTest {
    private static final Pattern FIRST_EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @Test
    void firstExampleOfTheReadmeCompilesAndRuns(@TempDir Path folder) throws Exception {
        Matcher example = FIRST_EXAMPLE.matcher(Files.readString(Path.of("../README.md")));
        assertTrue(example.find(), "the README has no example");
        Path source = folder.resolve("FirstLock.java");
        Files.writeString(source, example.group(1));
        int status = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        folder.toString(),
                        source.toString());
        assertEquals(0, status, "the README's example does not compile");
        try (URLClassLoader loader = new URLClassLoader(
                new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
            String output = outputOf(() -> loader.loadClass("FirstLock")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) new String[0]));
            assertTrue(output.contains("token"), output);
        }
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
