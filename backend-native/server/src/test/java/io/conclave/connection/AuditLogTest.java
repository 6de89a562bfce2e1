package io.conclave.connection;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import io.conclave.tree.Result;
import java.time.Duration;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.LoggerFactory;

/** What strangers can make of the audit log is bounded. */
@Timeout(300)
@ResourceLock(AuditLog.LOGGER)
class AuditLogTest {
    private static final int ROOM = 20_000;

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch diskMoves = new CountDownLatch(1);
    private final AppenderBase<ILoggingEvent> slowDisk = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            begun.countDown();
            try {
                diskMoves.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            lines.add(event.getFormattedMessage());
        }
    };
    private final AuditLog log = AuditLog.start(ROOM);
    private final Audit audit = new Audit(log);
    private final AtomicInteger looks = new AtomicInteger();

    @BeforeEach
    void listen() throws InterruptedException {
        slowDisk.start();
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).setLevel(Level.INFO);
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).addAppender(slowDisk);
        log.write(() -> AuditLine.ofServer("serverStart", AuditLine.Result.SUCCESS));
        begun.await();
    }

    @AfterEach
    void stopListening() {
        diskMoves.countDown();
        log.close();
        ((Logger) LoggerFactory.getLogger(AuditLog.LOGGER)).detachAppender(slowDisk);
    }

    /** Counts how often somebody looks at the name. */
    private Audit.Client client(String user) {
        return new Audit.Client(1, null, new AbstractList<>() {
            @Override
            public AuthId get(int index) {
                looks.incrementAndGet();
                return new AuthId("digest", user + ":hash");
            }

            @Override
            public int size() {
                return 1;
            }
        });
    }

    private List<String> written(int count) {
        diskMoves.countDown();
        await().atMost(Duration.ofMinutes(2)).until(() -> lines.size() >= count);
        return lines;
    }

    @Test
    void linesThatWaitAreBoundedByTheirBytesAndTheRestIsCountedAsLost() {
        int parts = 45_000;
        Audit.Client client = client("u".repeat(4000));
        audit.applied(
                client,
                new RequestBody.Multi(
                        OpCode.MULTI, Collections.nCopies(parts, new RequestBody.SetData("/a", new byte[0], -1))),
                new Result.MultiDone(Collections.nCopies(parts, new Result.Deleted())));
        assertEquals(1, looks.get(), "the client's part of the lines is made once");
        diskMoves.countDown();
        await().atMost(Duration.ofMinutes(2)).until(() -> kept() + lost() == parts);
        assertTrue(kept() > 10, () -> kept() + " lines were kept");
        assertTrue(kept() < ROOM / 256, () -> kept() + " lines were kept");
    }

    private long kept() {
        return lines.stream().filter(line -> line.startsWith("session=")).count();
    }

    private long lost() {
        return lines.stream()
                .filter(line -> line.startsWith("lost="))
                .mapToLong(line -> Long.parseLong(line.substring("lost=".length())))
                .sum();
    }

    /** Else one that is very long would hide those behind it. */
    @Test
    void eachLongNameIsCutWithItsLengthBehind() {
        Audit.Client client =
                new Audit.Client(1, null, List.of(new AuthId("sasl", "u".repeat(4000)), new AuthId("sasl", "admin")));
        audit.failed(
                client,
                new RequestBody.SetAcl(
                        "/a",
                        List.of(new AclRecord(1, "sasl", "v".repeat(300)), new AclRecord(31, "world", "anyone")),
                        -1));
        assertEquals(
                "session=0x1\tuser=" + "u".repeat(256) + "...(4000 characters),admin\toperation=setAcl\tznode=/a\tacl="
                        + "sasl:" + "v".repeat(256) + "...(300 characters):rworld:anyone:cdrwa\tresult=failure",
                written(2).get(1));
    }

    @Test
    void aPairOfSurrogatesIsNotCutThrough() {
        assertEquals("u".repeat(255) + "...(258 characters)", AuditLine.cut("u".repeat(255) + "\uD83D\uDE00x"));
    }
}
