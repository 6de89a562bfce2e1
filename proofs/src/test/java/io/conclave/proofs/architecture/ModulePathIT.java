package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application that is a Java module: it compiles against our jars, and finds the embedded backend by ServiceLoader
 * on the module path.
 */
class ModulePathIT {
    private static final String MODULE = """
            module an.application {
                requires io.conclave.api;
                requires io.conclave.locks;
            }
            """;
    private static final String PROGRAM = """
            package an.application;

            import io.conclave.coordinator.Coordinator;
            import io.conclave.locks.DistributedLock;
            import io.conclave.locks.LockGrant;
            import java.time.Duration;

            public final class Program {
                public static void main(String[] arguments) throws Exception {
                    try (Coordinator coordinator = Coordinator.connect("embedded:")) {
                        DistributedLock lock = DistributedLock.at(coordinator, "/locks/module");
                        try (LockGrant grant = lock.acquire(Duration.ofSeconds(20))) {
                            grant.ensureHeld();
                            System.out.println("held in module " + Program.class.getModule().getName()
                                    + ", library in " + DistributedLock.class.getModule().getName()
                                    + ", api in " + Coordinator.class.getModule().getName());
                        }
                    }
                }
            }
            """;

    @TempDir
    private Path directory;

    @Test
    void anApplicationModuleTakesALockThroughABackendThatServiceLoaderFinds() throws Exception {
        assertEquals(0, compile(jars(), PROGRAM, System.err), "the application does not compile");
        Path classes = directory.resolve("classes");
        String output = run(jars() + File.pathSeparator + classes);
        assertTrue(
                output.contains("held in module an.application, library in io.conclave.locks, api in io.conclave.api"),
                output);
    }

    @Test
    void anApplicationDoesNotSeeWhatRecipesAreMadeOf() throws Exception {
        String program = PROGRAM.replace(
                "held in module", "\" + io.conclave.recipe.Failures.isNoNode(new Exception()) + \"held in module");
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        assertEquals(1, compile(jars(), program, messages), "it compiles");
        assertTrue(
                messages.toString(StandardCharsets.UTF_8).contains("does not export it to module an.application"),
                messages::toString);
    }

    /** In the integration-test phase every module has been packaged. */
    private static String jars() {
        List<Path> entries = UserClassPath.entries();
        List<Path> folders = entries.stream().filter(Files::isDirectory).toList();
        assertEquals(List.of(), folders, "these are not jars yet; run this with mvn verify");
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    private int compile(String modulePath, String text, OutputStream messages) throws IOException {
        Path sources = Files.createDirectories(directory.resolve("source/an/application"));
        Path classes = directory.resolve("classes");
        Path module = Files.writeString(directory.resolve("source/module-info.java"), MODULE);
        Path program = Files.writeString(sources.resolve("Program.java"), text);
        return ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        messages,
                        "--release",
                        "17",
                        "--module-path",
                        modulePath,
                        "--class-path", // else it is this test's, where everything is seen
                        Files.createDirectories(directory.resolve("nothing")).toString(),
                        "-d",
                        classes.toString(),
                        module.toString(),
                        program.toString());
    }

    private String run(String modulePath) throws Exception {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--module-path",
                        modulePath,
                        "--module",
                        "an.application/an.application.Program")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(60, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(output, StandardCharsets.UTF_8);
        assertTrue(ended, () -> "the application did not end: " + text);
        assertEquals(0, process.exitValue(), text);
        return text;
    }
}
