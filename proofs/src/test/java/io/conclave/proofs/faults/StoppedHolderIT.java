package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that sleeps through the end of its session while it holds the lock: the case for which locks have tokens.
 */
class StoppedHolderIT {
    private static final String LOCK = "/locks/sleeper";
    private static final int TIMEOUT_MS = 1500;

    @TempDir
    private Path home;

    @Test
    void aHolderStoppedBeyondItsSessionWakesUpWithoutTheLockAndItsLateWriteIsRefused() throws Exception {
        TokenGuard store = new TokenGuard();
        try (ServerProcess server = ServerProcess.in(home).with("tickTime", 500).start();
                Holder holder = new Holder(server.connectString())) {
            FencingToken first = holder.token;
            assertTrue(holder.ask("held?").startsWith("held true"));
            assertTrue(store.write(first, "in time"));

            ChildJvm.signal(holder.process, "STOP");
            try (Coordinator coordinator = Coordinator.connect(server.connectString());
                    LockGrant next = DistributedLock.at(coordinator, LOCK).acquire(Duration.ofSeconds(30))) {
                assertTrue(next.token().compareTo(first) > 0, () -> next.token() + " after " + first);
                assertTrue(store.write(next.token(), "by the next holder"));

                // both questions wait in the pipe: answering them is the first thing that the process does when it
                // wakes up
                holder.send("held?");
                holder.send("ensure");
                ChildJvm.signal(holder.process, "CONT");
                assertEquals("held false remaining 0", holder.receive());
                assertEquals("ensure GrantLostException", holder.receive());
                assertEquals("lost SESSION_LOST", holder.ask("lost?"));

                FencingToken late = FencingTokens.parse(holder.ask("write"), "write");
                assertEquals(first, late);
                assertFalse(store.write(late, "too late"));
                assertTrue(next.isHeld());
                assertTrue(store.write(next.token(), "again by the next holder"));
            }
            assertEquals(List.of("in time", "by the next holder", "again by the next holder"), store.written());
        }
    }

    @Test
    void aHolderStoppedForLessThanItsSessionKeepsTheLock() throws Exception {
        try (ServerProcess server = ServerProcess.in(home).with("tickTime", 500).start();
                Holder holder = new Holder(server.connectString(), 10_000);
                Coordinator coordinator = Coordinator.connect(server.connectString())) {
            ChildJvm.signal(holder.process, "STOP");
            DistributedLock lock = DistributedLock.at(coordinator, LOCK);
            assertTrue(lock.tryAcquire().isEmpty());
            ChildJvm.signal(holder.process, "CONT");
            assertTrue(holder.ask("held?").startsWith("held true"));
            assertTrue(lock.tryAcquire().isEmpty());
        }
    }

    /** Reads tokens off the holder's answers. */
    private static final class FencingTokens {
        static FencingToken parse(String answer, String word) {
            String[] parts = answer.split(" ");
            assertEquals(word, parts[0], answer);
            return FencingToken.parse(parts[1]);
        }
    }

    /** The process of a {@link StoppedHolder}, with pipes to and from it. */
    private static final class Holder implements AutoCloseable {
        final Process process;
        final FencingToken token;
        private final BufferedReader answers;
        private final PrintWriter questions;

        Holder(String connectString) throws IOException {
            this(connectString, TIMEOUT_MS);
        }

        Holder(String connectString, int timeoutMs) throws IOException {
            process = new ProcessBuilder(ChildJvm.command(
                            List.of("-Xmx96m"), StoppedHolder.class, connectString, LOCK, Integer.toString(timeoutMs)))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            answers = process.inputReader(StandardCharsets.UTF_8);
            questions = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
            token = FencingTokens.parse(receive(), "token");
        }

        void send(String question) {
            questions.println(question);
        }

        /** The next answer; log lines in between are passed over. */
        String receive() throws IOException {
            String line = answers.readLine();
            while (line != null && !line.startsWith("> ")) {
                line = answers.readLine();
            }
            if (line == null) {
                throw new IOException("the holder has ended");
            }
            return line.substring(2);
        }

        String ask(String question) throws IOException {
            send(question);
            return receive();
        }

        @Override
        public void close() {
            process.destroyForcibly();
            process.onExit().join();
        }
    }
}
