package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a new user tries first: the examples of the README and of docs, compiled as they stand there, and run. Those
 * that wait for other processes have a {@link Scene}, those for a framework are run by it ({@link FrameworkExample}).
 */
class ReadmeExampleTest {
    /** Those that are compiled only, with the reason. */
    private static final Map<String, String> NOT_RUN = Map.of(
            "docs/coordinator.md: TlsOptions.trusting", "needs files with keys; OurClientOverTlsTest has them",
            "docs/coordinator.md: TlsOptions.fromFile", "needs files with keys; TlsOptionsTest has them",
            "docs/integrations/spring-boot.md: ConclaveContainer", "needs a Docker engine; ServiceConnectionIT has it",
            "docs/integrations/testcontainers.md: ConclaveContainer",
                    "needs a Docker engine; ConclaveClusterIT has it");

    private static final List<DocumentExample> EXAMPLES = DocumentExample.all();

    private static final UUID STORE = UUID.randomUUID();

    @TempDir
    private static Path folder;

    @Test
    void allExamplesCompileAsTheyStandThere(@TempDir Path asTheyAre) throws Exception {
        assertTrue(EXAMPLES.size() >= 40, "found only " + EXAMPLES.size());
        DocumentExample.compile(asTheyAre, EXAMPLES, source -> source);
    }

    @Test
    void eachSceneAndEachReasonBelongsToOneExample() {
        Set<String> keys = new TreeSet<>(NOT_RUN.keySet());
        keys.addAll(Scene.SCENES.keySet());
        keys.addAll(FrameworkExample.RUNS.keySet());
        for (String key : keys) {
            List<String> named = EXAMPLES.stream()
                    .filter(example -> example.is(key))
                    .map(DocumentExample::name)
                    .toList();
            assertEquals(1, named.size(), () -> key + " means " + named);
        }
    }

    @TestFactory
    Stream<DynamicTest> examplesRun() throws Exception {
        DocumentExample.compile(folder, EXAMPLES, ReadmeExampleTest::onThisMachine);
        return EXAMPLES.stream()
                .filter(example -> NOT_RUN.keySet().stream().noneMatch(example::is))
                .map(example -> dynamicTest(example.name(), () -> run(example)));
    }

    /** Servers and files of others are replaced by ones of this test. */
    private static String onThisMachine(String source) {
        return source.replaceAll("\"(conclave|zookeeper)://[^\"]*\"", "\"embedded:memory/" + STORE + "\"")
                .replace("awaitSettled(Duration.ofSeconds(5)", "awaitSettled(Duration.ofMillis(50)")
                .replace("Path.of(\"invoices.bound\")", "Path.of(\"" + folder.resolve("invoices.bound") + "\")");
    }

    private static void run(DocumentExample example) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, ReadmeExampleTest.class.getClassLoader())) {
            Class<?> type = loader.loadClass(example.className());
            Optional<FrameworkExample.Run> framework = FrameworkExample.RUNS.entrySet().stream()
                    .filter(one -> example.is(one.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst();
            if (framework.isPresent()) {
                framework.get().run(type);
                return;
            }
            if (example.isFile()) {
                Method main = type.getMethod("main", String[].class);
                main.setAccessible(true); // of a class that need not be public
                main.invoke(null, (Object) new String[0]);
                return;
            }
            Surroundings surroundings = (Surroundings) type.getConstructor().newInstance();
            surroundings.begin();
            try {
                play(Scene.of(example), surroundings);
            } finally {
                surroundings.end();
            }
        }
    }

    private static void play(Scene scene, Surroundings surroundings) throws Exception {
        FutureTask<Void> task = new FutureTask<>(() -> {
            surroundings.example();
            return null;
        });
        Thread thread = new Thread(task, "example");
        thread.setDaemon(true);
        scene.before().play(surroundings, thread);
        thread.start();
        scene.meanwhile().play(surroundings, thread);
        try {
            task.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof InterruptedException)) { // a scene ends a loop so
                throw e;
            }
        }
    }

    /** Who has read it there, and calls {@code examples/run first-lock}, sees what it does. */
    @Test
    void firstLockIsThatOfTheReadme() throws Exception {
        assertEquals("README.md#1", EXAMPLES.get(0).name());
        String example = Files.readString(Path.of("src/main/java/io/conclave/examples/FirstLock.java"));
        assertEquals(mainOf(EXAMPLES.get(0).text()), mainOf(example));
    }

    /** Without blanks: the formatter sets the one, and nobody the other. */
    private static String mainOf(String text) {
        return text.substring(text.indexOf("public static void main(")).replaceAll("\\s", "");
    }

    @Test
    void firstLockRuns() throws Exception {
        PrintStream console = System.out;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        try {
            FirstLock.main(new String[0]);
        } finally {
            System.setOut(console);
        }
        String text = output.toString(StandardCharsets.UTF_8);
        assertTrue(text.startsWith("Held for at least PT"), text);
    }
}
