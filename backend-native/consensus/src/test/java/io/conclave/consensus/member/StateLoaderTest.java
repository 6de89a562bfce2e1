package io.conclave.consensus.member;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.LogException;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.LogBatch;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.store.IncomingSnapshot;
import io.conclave.consensus.store.LogStore;
import io.conclave.consensus.store.SnapshotPosition;
import io.conclave.consensus.store.StoredLog;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** How the state of an installed snapshot takes the place of the old one. */
class StateLoaderTest {
    private static final long TAIL_BYTES = 2_000;

    private final List<String> events = new ArrayList<>();
    private final Deque<Runnable> background = new ArrayDeque<>();
    private final List<LogBatch> written = new ArrayList<>();
    private final LogStore store = store();
    private final LogApplier applier =
            new LogApplier(new Machine(), 1, new LogApplier.ApplyListener() {}, configuration -> {});
    private final LogWriter writer = new LogWriter(store, List.of());
    private final StateLoader loader =
            new StateLoader(store, new Machine(), applier, writer, background::add, Runnable::run, applier::apply);
    private boolean isWriting;
    private boolean hasFiles = true;
    private Throwable failure;

    private final class Machine implements StateMachine {
        @Override
        public void begin(UUID clusterId) {}

        @Override
        public void apply(CommittedBatch batch) {
            events.add("apply " + batch.lastIndex());
        }

        @Override
        public StateSnapshot snapshot() {
            throw new AssertionError("a snapshot");
        }

        @Override
        public void drop() {
            events.add("drop");
        }

        @Override
        public Runnable read(InputStream snapshot) {
            if (failure instanceof Error e) {
                throw e;
            }
            events.add("read");
            return () -> events.add("swap");
        }
    }

    private final class Installed implements IncomingSnapshot {
        private boolean discarded;

        @Override
        public long received() {
            return 1;
        }

        @Override
        public void write(byte[] chunk) {}

        @Override
        public SnapshotPosition verify() {
            throw new AssertionError("verified again");
        }

        @Override
        public void install() {}

        @Override
        public void read(Consumer<InputStream> reader) throws IOException {
            if (discarded) {
                throw new IOException("given up");
            }
            reader.accept(InputStream.nullInputStream());
        }

        @Override
        public void discard() {
            discarded = true;
        }
    }

    private LogStore store() {
        return (LogStore) Proxy.newProxyInstance(
                LogStore.class.getClassLoader(),
                new Class<?>[] {LogStore.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "isWritingSnapshot" -> isWriting;
                    case "append" -> {
                        ((List<?>) arguments[0]).forEach(batch -> written.add((LogBatch) batch));
                        yield LogStore.Appended.DONE;
                    }
                    case "openLog" -> hasFiles ? Optional.of(new Files((long) arguments[0])) : Optional.empty();
                    default -> throw new AssertionError(method.getName());
                });
    }

    private final class Files implements StoredLog {
        private long index;

        Files(long index) {
            this.index = index;
            events.add("open behind " + index);
        }

        @Override
        public List<LogBatch> read(long upTo, long maxBytes) {
            List<LogBatch> batches = written.stream()
                    .filter(batch -> batch.firstIndex() > index && batch.lastIndex() <= upTo)
                    .limit(10)
                    .toList();
            index = batches.isEmpty() ? index : batches.get(batches.size() - 1).lastIndex();
            return batches;
        }

        @Override
        public void close() {
            events.add("close");
        }
    }

    private Installed install(long index) {
        Installed installed = new Installed();
        loader.begin(installed);
        applier.restore(new SnapshotPosition(1, index, 1, LogState.INITIAL));
        writer.restart(index);
        return installed;
    }

    private void append(long from, long to) throws IOException {
        for (long index = from; index <= to; index++) {
            LogEntry entry = new LogEntry(LogEntryKind.TERM, Origin.NONE, new byte[100]);
            writer.add(List.of(new LogBatch(1, index, 1, List.of(entry))));
            writer.write(index);
        }
    }

    private boolean turn(long commitIndex) {
        return loader.goOn(commitIndex, TAIL_BYTES);
    }

    private void work() {
        background.remove().run();
    }

    @Test
    void theOldStateGoesBeforeTheNewOneIsRead() {
        install(9);
        assertTrue(loader.isLoading());
        assertFalse(turn(9));
        assertFalse(turn(9));
        assertEquals(1, background.size());
        work();
        assertTrue(turn(9));
        assertFalse(loader.isLoading());
        assertEquals(List.of("drop", "read", "swap"), events);
    }

    @Test
    void nothingIsReadWhileASnapshotOfTheOldStateIsWritten() {
        isWriting = true;
        install(9);
        assertFalse(turn(9));
        assertEquals(0, background.size());
        isWriting = false;
        turn(9);
        assertEquals(1, background.size());
    }

    @Test
    void entriesThatArriveWhileTheStateIsReadWaitInTheFilesUpToTheLast() throws IOException {
        install(9);
        turn(9);
        append(10, 109);
        turn(108);
        assertFalse(writer.isBeyond(TAIL_BYTES));
        work();
        for (int i = 0; i < 20 && !turn(109); i++) {
            work();
        }
        assertFalse(loader.isLoading());
        assertEquals(writer.leftIndex(), applier.index());
        for (LogBatch batch = writer.nextCommitted(109); batch != null; batch = writer.nextCommitted(109)) {
            applier.apply(batch);
        }
        assertEquals(109, applier.index());
        assertEquals(1, events.stream().filter("close"::equals).count());
        assertEquals(
                100, events.stream().filter(event -> event.startsWith("apply")).count());
    }

    @Test
    void withoutFilesItWaitsInMemory() throws IOException {
        hasFiles = false;
        install(9);
        turn(9);
        append(10, 109);
        assertFalse(turn(109));
        work();
        assertTrue(turn(109));
        assertEquals(10, writer.nextCommitted(109).firstIndex());
    }

    /** Else there would be two states in memory again. */
    @Test
    void anotherSnapshotIsReadWhenTheReadingOfTheFirstHasEnded() throws IOException {
        Installed first = install(9);
        turn(9);
        append(10, 109);
        turn(109);
        install(200);
        assertTrue(first.discarded);
        assertFalse(turn(200));
        assertEquals(1, background.size(), "the first one is not over");
        work();
        assertFalse(turn(200));
        work();
        assertTrue(turn(200));
        assertEquals(List.of("drop", "open behind 9", "close", "drop", "read", "swap"), events);
    }

    @Test
    void anErrorEndsTheMemberAndSaysWhatToDo() {
        failure = new OutOfMemoryError("planted");
        install(9);
        turn(9);
        LogException end = assertThrows(LogException.class, this::work);
        assertSame(failure, end.getCause());
        assertTrue(end.getMessage().contains("the snapshot of 9 entries"), end.getMessage());
    }

    @Test
    void aLoadCancelledByTheEndOfTheMemberIsDropped() {
        install(9);
        turn(9);
        loader.end();
        work();
        assertEquals(List.of("drop"), events);
    }
}
