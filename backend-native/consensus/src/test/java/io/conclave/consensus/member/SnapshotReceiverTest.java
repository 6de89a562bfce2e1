package io.conclave.consensus.member;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.DamagedLogException;
import io.conclave.consensus.LogException;
import io.conclave.consensus.core.PeerMessage.SnapshotChunk;
import io.conclave.consensus.core.PeerMessage.SnapshotReply;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.store.CancelledException;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What becomes of a snapshot that has arrived and cannot be verified. */
class SnapshotReceiverTest {
    private static final int BYTES = 10;

    private final List<SnapshotReply> replies = new ArrayList<>();
    private int files;
    private int discarded;
    private long nowMs = 1_000;

    private final class File implements IncomingSnapshot {
        private final Throwable failure;
        private long received;

        File(Throwable failure) {
            this.failure = failure;
            files++;
        }

        @Override
        public long received() {
            return received;
        }

        @Override
        public void write(byte[] chunk) {
            received += chunk.length;
        }

        @Override
        public SnapshotPosition verify() throws IOException {
            if (failure instanceof IOException e) {
                throw e;
            }
            if (failure instanceof Error e) {
                throw e;
            }
            throw (RuntimeException) failure;
        }

        @Override
        public void install() {
            throw new AssertionError("installed");
        }

        @Override
        public void read(Consumer<InputStream> reader) {
            throw new AssertionError("read");
        }

        @Override
        public void discard() {
            discarded++;
        }
    }

    private final class Member implements SnapshotReceiver.Receiving {
        @Override
        public void send(int to, SnapshotReply reply) {
            replies.add(reply);
        }

        @Override
        public void toMember(Runnable action) {
            action.run();
        }

        @Override
        public long nowMs() {
            return nowMs;
        }

        @Override
        public boolean wants(long lastIndex, long lastTerm) {
            return true;
        }

        @Override
        public void install(IncomingSnapshot snapshot, SnapshotPosition position) {
            throw new AssertionError("installed");
        }
    }

    private SnapshotReceiver receiver(Throwable failure) {
        return receiver(failure, Runnable::run);
    }

    private SnapshotReceiver receiver(Throwable failure, Executor background) {
        LogStore store = (LogStore) Proxy.newProxyInstance(
                LogStore.class.getClassLoader(), new Class<?>[] {LogStore.class}, (proxy, method, arguments) -> {
                    assertEquals("receive", method.getName());
                    return new File(failure);
                });
        return new SnapshotReceiver(store, background, 500, new Member());
    }

    private static SnapshotChunk chunk() {
        return new SnapshotChunk(1, 7, 1, BYTES, 0, new byte[BYTES]);
    }

    @Test
    void oneOfALaterVersionIsGivenUpAndTheMemberGoesOn() throws IOException {
        SnapshotReceiver receiver = receiver(new LogException("feature level 9"));
        receiver.received(2, chunk());
        assertEquals(1, discarded);
        assertEquals(1, replies.size(), "that the bytes have arrived");
        nowMs += 499;
        receiver.received(2, chunk());
        assertEquals(1, files);
        nowMs += 1;
        receiver.received(2, chunk());
        assertEquals(2, files);
    }

    @Test
    void withoutRoomItIsGivenUpAndTakenAgainAfterAPause() throws IOException {
        for (Exception full :
                List.of(new DiskFullException("no room"), new UncheckedIOException(new DiskFullException("no room")))) {
            replies.clear();
            files = 0;
            discarded = 0;
            SnapshotReceiver receiver = receiver(full);
            receiver.received(2, chunk());
            assertEquals(1, discarded);
            assertEquals(1, replies.size());
            nowMs += 499;
            receiver.received(2, chunk());
            assertEquals(1, replies.size());
            assertEquals(1, files);
            nowMs += 1;
            receiver.received(2, chunk());
            assertEquals(2, files);
            assertEquals(2, replies.size());
        }
    }

    /** A disk that throttles writers would hold the member's thread up, and its heartbeats. */
    @Test
    void chunksAreWrittenInTheBackgroundAndAnsweredThen() throws IOException {
        List<Runnable> work = new ArrayList<>();
        SnapshotReceiver receiver = receiver(new CancelledException(), work::add);
        for (int i = 0; i < 3; i++) {
            receiver.received(2, new SnapshotChunk(1, 7, 1, BYTES, 3L * i, new byte[3]));
        }
        assertEquals(List.of(), replies);
        assertEquals(1, work.size());
        work.remove(0).run();
        assertEquals(3, replies.get(0).received());
        assertEquals(1, work.size());
        work.remove(0).run();
        assertEquals(9, replies.get(1).received());
        receiver.received(2, new SnapshotChunk(1, 7, 1, BYTES, 9, new byte[1]));
        work.remove(0).run();
        assertEquals(10, replies.get(2).received());
    }

    @Test
    void theSenderLearnsThatTheSnapshotIsDamaged() throws IOException {
        receiver(new DamagedLogException("file", 7, "the checksum does not match"))
                .received(2, chunk());
        assertEquals(2, replies.size());
        assertTrue(replies.get(1).isDamaged());
        assertEquals(1, discarded);
    }

    @Test
    void anErrorWhileReadingEndsTheMemberInsteadOfLeavingItWaiting() {
        Error outOfMemory = new OutOfMemoryError("planted");
        LogException end =
                assertThrows(LogException.class, () -> receiver(outOfMemory).received(2, chunk()));
        assertSame(outOfMemory, end.getCause());
        assertEquals(1, discarded);
    }

    @Test
    void aCancelledInstallationIsNotReportedAsDamage() throws IOException {
        receiver(new CancelledException()).received(2, chunk());
        assertEquals(1, replies.size());
        assertTrue(replies.stream().noneMatch(SnapshotReply::installed));
    }
}
