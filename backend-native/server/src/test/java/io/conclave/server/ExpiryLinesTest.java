package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.connection.LineLimit;
import io.conclave.consensus.Proposal;
import io.conclave.consensus.ReplicatedLog;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What the log says of very many sessions that expire: strangers open as many as they can and leave them. */
class ExpiryLinesTest {
    private static final long FIRST = 0x70a1_0000_0000_0000L;
    private static final int SESSIONS = 1_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Logger logger = (Logger) LoggerFactory.getLogger(SessionLease.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final ManualTimeSource time = new ManualTimeSource();
    private final ReplicatedLog log = (ReplicatedLog) Proxy.newProxyInstance(
            ExpiryLinesTest.class.getClassLoader(),
            new Class<?>[] {ReplicatedLog.class},
            (proxy, method, arguments) -> suspects((Proposal) arguments[0]));
    private final LeaderTerm leaderTerm = new LeaderTerm(() -> true);
    private final List<SessionLease.Suspicion> suspicions = new ArrayList<>();
    private final SessionTracker tracker = new SessionTracker(
            log, time, leaderTerm, new HeartbeatBatcher(log, time, 2, () -> false, Duration.ofMillis(100)));

    @BeforeEach
    void listen() {
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        logger.setLevel(Level.INFO); // simulations in this JVM turn all off
        logger.addAppender(lines);
        leaderTerm.lead(4);
    }

    /** What else is proposed is of no interest here, and not taken. */
    private boolean suspects(Proposal proposal) {
        if (proposal instanceof SessionLease.Suspicion suspicion) {
            suspicions.add(suspicion);
            return true;
        }
        return false;
    }

    @AfterEach
    void close() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        tracker.stop();
    }

    private void haveExpire(long first, int sessions) {
        TreeState state = TreeState.initial(new UUID(1, 2), 0);
        for (long id = first; id < first + sessions; id++) {
            SessionPassword password = SessionPassword.of(new byte[SessionPassword.BYTES]);
            state = Tree.apply(state, new Change.OpenSession(id, password, (int) TIMEOUT.toMillis()), 1)
                    .state();
        }
        tracker.began(state);
        time.advance(TIMEOUT);
        suspicions.forEach(suspicion -> suspicion.applied(1));
        suspicions.clear();
    }

    private List<String> linesOfThese() {
        return lines.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.startsWith("Session 0x70a1"))
                .toList();
    }

    @Test
    void fewGetALineAndTheOthersAreCounted() {
        haveExpire(FIRST, SESSIONS);
        assertEquals(SessionTracker.EXPIRY_LINES, linesOfThese().size());
        linesOfThese()
                .forEach(line -> assertTrue(line.endsWith(" has not been heard of for 5000 ms: expiring it"), line));
        time.advance(LineLimit.INTERVAL);
        haveExpire(FIRST + SESSIONS, 1);
        String last = linesOfThese().get(SessionTracker.EXPIRY_LINES);
        assertTrue(last.contains("; so were " + (SESSIONS - SessionTracker.EXPIRY_LINES) + " others"), last);
    }
}
