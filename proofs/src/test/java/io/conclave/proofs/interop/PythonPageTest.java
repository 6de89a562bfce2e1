package io.conclave.proofs.interop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.locks.LockLayout;
import io.conclave.request.GetChildren;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples in Python of the pages: each compiles, and that of a lock stands in one line with ours. */
class PythonPageTest {
    private static final Path TOP = Path.of("..");
    private static final Pattern EXAMPLE = Pattern.compile("(?s)```python\n(.*?)```");

    @TempDir
    private Path directory;

    private static List<String> examples(Path page) throws IOException {
        return EXAMPLE.matcher(Files.readString(page))
                .results()
                .map(example -> example.group(1))
                .toList();
    }

    private Path file(String example) throws IOException {
        return Files.writeString(directory.resolve("example.py"), example);
    }

    @Test
    void examplesOfThePagesCompile() throws Exception {
        List<String> all = new ArrayList<>();
        try (Stream<Path> pages = Files.walk(TOP.resolve("docs"))) {
            for (Path page : pages.filter(one -> one.toString().endsWith(".md")).toList()) {
                all.addAll(examples(page));
            }
        }
        assertTrue(!all.isEmpty(), "no example was found");
        for (String example : all) {
            assertEquals(0, Kazoo.compile(file(example)), example);
        }
    }

    @Test
    @Tag("proof")
    void lockOfThePageStandsInOneLineWithOurs() throws Exception {
        String example = examples(TOP.resolve("docs/migration.md")).get(0);
        try (ConclaveEnsemble servers = ConclaveEnsemble.start(1);
                Coordinator coordinator = Coordinator.connect(servers.connectString())) {
            DistributedLock orders =
                    DistributedLock.at(coordinator, "/locks/orders").withLayout(LockLayout.KAZOO);
            LockGrant held = orders.acquire();
            Process kazoo = Kazoo.start(
                    "kazoo_page_example.py",
                    servers.connectString().replace("conclave://", ""),
                    file(example).toString());
            try (BufferedReader said = kazoo.inputReader(StandardCharsets.UTF_8);
                    PrintWriter goOn = new PrintWriter(kazoo.outputWriter(StandardCharsets.UTF_8), true)) {
                await().until(() -> placesAt(coordinator) == 2);
                assertTrue(!said.ready(), "it works while ours is held");
                held.close();
                assertEquals("billing", said.readLine());
                assertEquals(Optional.empty(), orders.tryAcquire());
                goOn.println();
                assertNull(said.readLine());
                assertTrue(kazoo.waitFor(60, SECONDS));
                assertEquals(0, kazoo.exitValue());
                orders.acquire().close();
            } finally {
                kazoo.destroyForcibly();
            }
        }
    }

    private static int placesAt(Coordinator coordinator) throws InterruptedException {
        return coordinator.execute(GetChildren.of("/locks/orders")).names().size();
    }
}
