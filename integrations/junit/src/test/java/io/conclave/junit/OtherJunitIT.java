package io.conclave.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The tests of this module on other versions of JUnit than the one that it is compiled with, which is the oldest. The
 * build has copied their jars to {@code target}.
 */
class OtherJunitIT {
    private static final int PATIENCE_S = 300;
    private static final List<Class<?>> TESTS =
            List.of(MemoryParametersTest.class, ServersParametersTest.class, ScopesTest.class, ErrorsTest.class);

    @TempDir
    Path directory;

    /** A class that the oldest JUnit cannot run, so it is not compiled with the others. */
    private static final String PARAMETERIZED_CLASS = """
            package io.conclave.junit;

            import static org.junit.jupiter.api.Assertions.assertEquals;

            import io.conclave.coordinator.Coordinator;
            import io.conclave.session.SessionState;
            import org.junit.jupiter.api.Test;
            import org.junit.jupiter.params.AfterParameterizedClassInvocation;
            import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
            import org.junit.jupiter.params.ParameterizedClass;
            import org.junit.jupiter.params.provider.ValueSource;

            @ConclaveTest
            @ParameterizedClass
            @ValueSource(strings = {"/a", "/b"})
            class StringsOfAParameterizedClass {
                private final String path;

                StringsOfAParameterizedClass(String path) {
                    this.path = path;
                }

                @BeforeParameterizedClassInvocation
                static void before(String path) {
                    assertEquals(2, path.length());
                }

                @AfterParameterizedClassInvocation
                static void after(String path) {
                    assertEquals(2, path.length());
                }

                @Test
                void isGivenItsArgumentAndWhatIsOurs(Coordinator coordinator, String connectString) {
                    assertEquals(2, path.length());
                    assertEquals("memory", connectString.substring(0, 6));
                    assertEquals(SessionState.CONNECTED, coordinator.state());
                }
            }
            """;

    @ParameterizedTest
    @CsvSource({"5.14,5.14.4", "6,6.1.3"})
    void testsPassOn(String line, String version) throws Exception {
        run(version, classPath(line), TESTS.stream().map(Class::getName));
    }

    @ParameterizedTest
    @CsvSource({"5.14,5.14.4", "6,6.1.3"})
    void stringsOfAParameterizedClassAreItsArguments(String line, String version) throws Exception {
        Path source = directory.resolve("StringsOfAParameterizedClass.java");
        Files.writeString(source, PARAMETERIZED_CLASS);
        StringWriter errors = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        boolean isCompiled = compiler.getTask(
                        errors,
                        null,
                        null,
                        List.of("-proc:none", "-d", directory.toString(), "-cp", classPath(line)),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
                .call();
        assertTrue(isCompiled, errors::toString);
        String withIt = directory + File.pathSeparator + classPath(line);
        run(version, withIt, Stream.of("io.conclave.junit.StringsOfAParameterizedClass"));
    }

    private void run(String version, String classPath, Stream<String> tests) throws Exception {
        Path log = directory.resolve("log");
        List<String> command = Stream.concat(
                        Stream.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-Xmx512m",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                classPath,
                                TestRun.class.getName()),
                        tests)
                .toList();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertTrue(process.waitFor(PATIENCE_S, TimeUnit.SECONDS), () -> "not done: " + textOf(log));
            assertEquals(0, process.exitValue(), () -> textOf(log));
            assertTrue(textOf(log).contains("JUnit " + version + ": "), () -> textOf(log));
        } finally {
            process.destroyForcibly();
        }
    }

    /** That of this JVM, but with the other JUnit. */
    private static String classPath(String line) throws IOException {
        try (Stream<Path> jars = Files.list(Path.of("target", "junit-" + line))) {
            Stream<String> others = Arrays.stream(
                            System.getProperty("java.class.path").split(File.pathSeparator))
                    .filter(entry -> !Path.of(entry).getFileName().toString().startsWith("junit-"));
            return Stream.concat(jars.map(Path::toString), others).collect(Collectors.joining(File.pathSeparator));
        }
    }

    private static String textOf(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
