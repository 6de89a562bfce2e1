package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.ForwardingDisk;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogState;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Snapshots that a member receives from another: checked, installed, replaced and read. */
class ReceivedSnapshotTest extends FileStoreFixture {
    private static IncomingSnapshot received(FileStore store, byte[] bytes, long index, long term) throws IOException {
        IncomingSnapshot incoming = store.receive(index, term, bytes.length);
        incoming.write(bytes);
        incoming.verify();
        return incoming;
    }

    @Test
    void anInstalledSnapshotReplacesTheLogWhichGoesOnBehindIt() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 20, 3_000), 2);
        install(store, snapshot(1_000, 4, 99), 1_000, 4);
        disk.losePower();
        store = start();
        assertEquals(99, replay.state);
        assertEquals(1_000, recovered.lastCommitted());
        assertEquals(4, recovered.lastCommittedTerm());
        assertEquals(List.of(), recovered.rest());
        append(store, batches(4, 1_001, 20, 3_000), 1_000);
        disk.losePower();
        store = start();
        assertEquals(20, recovered.rest().size());
        assertFalse(disk.list().contains(Segment.name(1)));
        store.cutAfter(1_000);
        disk.losePower();
        store = start();
        assertEquals(List.of(), recovered.rest());
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(1_000, newest.lastIndex());
        }
    }

    @Test
    void aSnapshotThatWasReceivedAndNotInstalledIsForgotten() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 2);
        byte[] bytes = snapshot(1_000, 4, 99);
        IncomingSnapshot incoming = store.receive(1_000, 4, bytes.length);
        incoming.write(bytes);
        assertEquals(position(1_000, 4), incoming.verify());
        disk.losePower();
        start();
        assertEquals(2, recovered.lastCommitted());
        assertEquals(1, recovered.rest().size());
        assertTrue(disk.list().stream().noneMatch(SnapshotFile::isReceived));
    }

    @Test
    void aSnapshotThatArrivedDamagedOrIsOldIsRefused() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 5, 100), 5);
        byte[] bytes = snapshot(9, 4, 99);
        bytes[60] ^= 1;
        IncomingSnapshot damaged = store.receive(9, 4, bytes.length);
        damaged.write(bytes);
        assertThrows(LogException.class, () -> damaged.verify());
        assertThrows(IllegalStateException.class, damaged::install);
        byte[] whole = snapshot(9, 4, 99);
        IncomingSnapshot other = store.receive(8, 4, whole.length);
        other.write(whole);
        assertThrows(LogException.class, () -> other.verify(), "it is another one than was announced");
        IncomingSnapshot unfinished = store.receive(9, 4, whole.length + 1);
        unfinished.write(whole);
        assertThrows(LogException.class, () -> unfinished.verify());
        assertThrows(IllegalStateException.class, () -> install(store, snapshot(5, 1, 1), 5, 1), "it is old");
        append(store, batches(4, 6, 1, 100), 5);
        disk.losePower();
        start();
        assertEquals(5, recovered.lastCommitted());
        assertEquals(1, recovered.rest().size());
    }

    @Test
    void aReceivedSnapshotIsReplacedByTheNext() throws IOException {
        FileStore store = start();
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = store.receive(9, 4, bytes.length);
        first.write(bytes);
        IncomingSnapshot second = store.receive(9, 4, bytes.length);
        assertThrows(CancelledException.class, () -> first.write(bytes));
        assertThrows(IllegalStateException.class, () -> first.verify());
        second.write(bytes);
        second.verify();
        first.discard();
        second.install();
        second.read(in -> assertEquals(99, readState(in)));
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void oneThatIsReplacedWhileItIsVerifiedDoesNotTakeTheNextOneWithIt() throws IOException {
        Runnable[] beforeName = {() -> {}};
        Disk watched = new ForwardingDisk(disk) {
            @Override
            protected DiskFile wrap(String name, DiskFile file) {
                return file;
            }

            @Override
            public void rename(String from, String to) throws IOException {
                beforeName[0].run();
                super.rename(from, to);
            }
        };
        FileStore store = FileStore.open(watched, options(), Runnable::run);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = store.receive(9, 4, bytes.length);
        first.write(bytes);
        IncomingSnapshot[] second = new IncomingSnapshot[1];
        beforeName[0] = () -> {
            beforeName[0] = () -> {};
            try {
                second[0] = store.receive(9, 4, bytes.length);
                second[0].write(bytes);
                second[0].verify();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        };
        assertThrows(CancelledException.class, first::verify);
        second[0].install();
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void theReadingOfOneThatIsReplacedByTheNextEnds() throws IOException {
        FileStore store = start();
        byte[] bytes = snapshot(9, 4, 99);
        IncomingSnapshot first = received(store, bytes, 9, 4);
        first.install();
        byte[] next = snapshot(12, 4, 100);
        UncheckedIOException ended = assertThrows(
                UncheckedIOException.class,
                () -> first.read(in -> {
                    try {
                        in.read();
                        IncomingSnapshot second = received(store, next, 12, 4);
                        second.install();
                        first.discard();
                        second.read(state -> assertEquals(100, readState(state)));
                        in.readAllBytes();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                }));
        assertInstanceOf(CancelledException.class, ended.getCause());
        disk.losePower();
        start();
        assertEquals(100, replay.state);
    }

    @Test
    void anInstalledSnapshotStaysTheLogsWhenItsReadingIsCancelled() throws IOException {
        FileStore store = start();
        IncomingSnapshot installed = received(store, snapshot(9, 4, 99), 9, 4);
        installed.install();
        installed.discard();
        assertThrows(CancelledException.class, () -> installed.read(in -> {}));
        disk.losePower();
        start();
        assertEquals(99, replay.state);
    }

    @Test
    void oneOfUnknownFeaturesIsRefusedBeforeTheLogIsGone() throws IOException {
        FileStore store = start();
        append(store, batches(1, 1, 3, 100), 2);
        LogState ofTomorrow = new LogState(ClusterConfiguration.NONE, 0, 1_000, Map.of());
        byte[] bytes = snapshot(new SnapshotPosition(4, 9, 77, ofTomorrow), 99);
        IncomingSnapshot unknown = store.receive(9, 4, bytes.length);
        unknown.write(bytes);
        LogException refused = assertThrows(LogException.class, unknown::verify);
        assertTrue(refused.getMessage().contains("feature level 1000"), refused.getMessage());
    }

    /** It holds on to the state that the received one replaces. */
    @Test
    void aSnapshotThatIsBeingWrittenIsGivenUpForAReceivedOne() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        work.clear();
        store.applied(position(2, 1), () -> out -> {
            for (int i = 0; i < 100; i++) {
                out.write(new byte[100_000]);
            }
            throw new AssertionError("written to its end");
        });
        store.snapshotSoon();
        assertTrue(store.isWritingSnapshot());
        received(store, snapshot(9, 4, 99), 9, 4).install();
        assertTrue(store.isWritingSnapshot());
        List.copyOf(work).forEach(Runnable::run);
        assertFalse(store.isWritingSnapshot());
    }

    private static long readState(InputStream in) {
        try {
            return Replay.read(in);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The store has no state to take another one from until what was received is read. */
    @Test
    void aReceivedSnapshotThatIsDamagedBeforeItIsReadIsTakenAgainOnceItsStateIsHere() throws IOException {
        List<Runnable> work = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), Runnable::run);
        store.recover(replay);
        install(store, snapshot(9, 4, 99), 9, 4);
        String name = SnapshotFile.name(9);
        disk.flipBit(name, 60);
        work.clear();
        store.suspectSnapshot(9);
        work.remove(0).run();
        assertTrue(disk.list().contains(name + LogFormat.DAMAGED));
        assertNull(store.openNewestSnapshot());
        store.applied(position(9, 4), () -> Replay.snapshotOf(99));
        List.copyOf(work).forEach(Runnable::run);
        try (StoredSnapshot newest = store.openNewestSnapshot()) {
            assertEquals(9, newest.lastIndex());
        }
    }

    @Test
    void oneThatWasWrittenInVainDoesNotTakeThePlaceOfADamagedReceivedOne() throws IOException {
        List<Runnable> work = new ArrayList<>();
        List<Runnable> outcomes = new ArrayList<>();
        FileStore store = FileStore.open(disk, options(work::add), outcomes::add);
        store.recover(replay);
        append(store, batches(1, 1, 3, 100), 2);
        work.clear();
        store.applied(position(2, 1), () -> Replay.snapshotOf(5));
        store.snapshotSoon();
        work.remove(0).run();
        install(store, snapshot(9, 4, 99), 9, 4);
        disk.flipBit(SnapshotFile.name(9), 60);
        work.clear();
        store.suspectSnapshot(9);
        work.remove(0).run();
        Collections.reverse(outcomes);
        List.copyOf(outcomes).forEach(Runnable::run);
        assertNull(store.openNewestSnapshot());
    }
}
