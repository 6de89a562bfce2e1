package io.conclave.locks;

import io.conclave.line.EntryKind;
import io.conclave.line.LineEntry;
import io.conclave.line.LineRole;
import io.conclave.line.LineRule;
import io.conclave.line.RevocationWord;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** As what contenders for a lock stand in its line, in one layout. */
final class LockRoles {
    private static final String MEASURED_AS = "lock";
    private static final LockRoles CURATOR = new LockRoles(
            EntryKind.MUTEX,
            EntryKind.curator("__READ__"),
            EntryKind.curator("__WRIT__"),
            RevocationWord.curatorsBytes());
    private static final LockRoles KAZOO = new LockRoles(
            EntryKind.kazoo("__lock__"),
            EntryKind.kazoo("__rlock__"),
            EntryKind.kazoo("__lock__"),
            RevocationWord.bytes());

    private final LineRole mutex;
    private final LineRole reader;
    private final LineRole writer;
    private final byte[] word;

    private LockRoles(EntryKind mutex, EntryKind reader, EntryKind writer, byte[] word) {
        Set<EntryKind> shared = Set.of(reader, writer);
        this.mutex = new LineRole(MEASURED_AS, mutex, Set.of(mutex), LineRule.immediatePredecessor());
        this.reader = new LineRole(MEASURED_AS, reader, shared, (before, own) -> nearest(writer, before));
        this.writer = new LineRole(MEASURED_AS, writer, shared, LineRule.immediatePredecessor());
        this.word = word;
    }

    static LockRoles of(LockLayout layout) {
        return switch (layout) {
            case CURATOR -> CURATOR;
            case KAZOO -> KAZOO;
        };
    }

    private static Optional<LineEntry> nearest(EntryKind kind, List<LineEntry> before) {
        for (int i = before.size() - 1; i >= 0; i--) {
            if (before.get(i).kind().equals(kind)) {
                return Optional.of(before.get(i));
            }
        }
        return Optional.empty();
    }

    LineRole mutex() {
        return mutex;
    }

    LineRole reader() {
        return reader;
    }

    LineRole writer() {
        return writer;
    }

    /** How a contender of a kind holds the lock or waits for it. */
    LockMode modeOf(EntryKind kind) {
        return kind.equals(reader.kind()) ? LockMode.SHARED : LockMode.EXCLUSIVE;
    }

    /** What all users of the layout understand as a request to release, if they understand any. */
    byte[] word() {
        return word.clone();
    }
}
