package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.ClientLimits;
import io.conclave.connection.ClientSecurity;
import io.conclave.connection.CommandWords;
import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.ConnectionLimits;
import io.conclave.connection.ConnectionServices;
import io.conclave.connection.LimitGuard;
import io.conclave.connection.ServiceMode;
import io.conclave.connection.SessionIds;
import io.conclave.connection.SessionLeases;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.TreeState;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the texts of four-letter words are made: not on event loops, and not on threads of anybody else. */
@Timeout(300)
class WordTextsTest {
    private final ManualTimeSource time = new ManualTimeSource();
    private final LimitGuard guard = new LimitGuard(ClientLimits.defaults(), time);
    private final ServerTransport transport = ServerTransport.local(2);
    private final ConnectionAcceptor acceptor =
            new ConnectionAcceptor(transport.group(), unused(ReplicatedLog.class), time, services());
    private final BlockingQueue<Runnable> texts = new LinkedBlockingQueue<>();

    private static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                WordTextsTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                }));
    }

    private ConnectionServices services() {
        return new ConnectionServices(
                new ConnectionLimits(0, 0, 100, 60_000, 2000),
                guard,
                unused(SessionLeases.class),
                new SessionIds(1),
                () -> TreeState.OF_NO_CLUSTER,
                ClientSecurity.NONE,
                CommandWords.NONE,
                (changes, asker) -> {},
                CompletableFuture::new,
                () -> false,
                time);
    }

    private FourLetterWords words(Executor executor) {
        ServerConfig config = TestServer.config().commandWhitelist(Set.of("*")).build();
        ServerReport report = new ServerReport(
                config,
                () -> ServiceMode.FULL,
                () -> LogStatus.idle(1, LogRole.LEADING),
                () -> PeerCounts.NONE,
                () -> TreeState.OF_NO_CLUSTER,
                () -> 0,
                guard,
                time);
        ServerDescription description = new ServerDescription(config, () -> LogStatus.idle(1, LogRole.LEADING));
        return new FourLetterWords(
                config, report, description, () -> acceptor, () -> "dump", () -> "digests", executor);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"srvr", "stat", "cons", "conf", "mntr", "dump", "hash", "dirs", "wchs", "wchc", "wchp", "envi"})
    void aTextIsMadeOnAThreadForTexts(String word) throws InterruptedException {
        CompletableFuture<String> answer =
                words(texts::add).answer(word, new byte[0], "10.0.0.1").toCompletableFuture();
        Runnable work = null;
        while (work == null) {
            work = texts.poll(1, TimeUnit.MILLISECONDS);
            time.advance(java.time.Duration.ofMillis(1)); // watches are gathered part by part
        }
        assertFalse(answer.isDone());
        work.run();
        assertFalse(answer.join().isEmpty());
    }

    @Test
    void aWordIsToldToComeAgainWhileTooManyTextsWait() {
        FourLetterWords words = words(task -> {
            throw new RejectedExecutionException();
        });
        for (String word : Set.of("cons", "mntr", "wchp", "envi")) {
            assertEquals(
                    WordTurns.BUSY,
                    words.answer(word, new byte[0], "10.0.0.1")
                            .toCompletableFuture()
                            .join());
        }
    }

    @Test
    void aShortWordDoesNotWaitForALongOne() throws InterruptedException {
        FourLetterWords words = words(texts::add);
        CompletableFuture<String> first =
                words.answer("dump", new byte[0], "10.0.0.1").toCompletableFuture();
        CompletableFuture<String> second =
                words.answer("dump", new byte[0], "10.0.0.1").toCompletableFuture();
        CompletableFuture<String> shortOne =
                words.answer("conf", new byte[0], "10.0.0.1").toCompletableFuture();
        assertEquals(2, texts.size(), "the second has not begun");
        Runnable one = texts.take();
        texts.take().run();
        assertTrue(shortOne.isDone());
        assertFalse(first.isDone());
        one.run();
        assertTrue(first.isDone());
        assertFalse(second.isDone());
        texts.take().run();
        assertTrue(second.isDone());
    }

    @AfterEach
    void end() {
        transport.close();
    }
}
