package io.conclave.locks;

import io.conclave.line.EntryKind;
import io.conclave.line.LineEntry;
import io.conclave.line.LineRole;
import io.conclave.line.LineRule;
import io.conclave.line.RevocationWord;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** How the znodes of a lock are named. All users of a lock must use one layout: contenders of another are not seen. */
@SuppressWarnings("ImmutableEnumChecker") // roles are functions without state, and the word is copied
public enum LockLayout {
    /**
     * That of Curator: {@code _c_<guid>-lock-<sequence>}, and {@code __READ__} and {@code __WRIT__} in a shared lock. A
     * holder is asked to release with Curator's word, so that Curator's revocable locks hear it.
     */
    CURATOR(
            EntryKind.MUTEX,
            EntryKind.curator("__READ__"),
            EntryKind.curator("__WRIT__"),
            RevocationWord.curatorsBytes()),
    /**
     * That of kazoo: {@code <guid>__lock__<sequence>}, and {@code __rlock__} for the readers of a shared lock. kazoo's
     * Lock does not see readers; its WriteLock is the counterpart of a {@link WriteLock}. It does not know revocation.
     */
    KAZOO(
            EntryKind.kazoo("__lock__"),
            EntryKind.kazoo("__rlock__"),
            EntryKind.kazoo("__lock__"),
            RevocationWord.bytes());

    private static final String MEASURED_AS = "lock";

    private final LineRole mutex;
    private final LineRole reader;
    private final LineRole writer;
    private final byte[] word;

    LockLayout(EntryKind mutex, EntryKind reader, EntryKind writer, byte[] word) {
        Set<EntryKind> shared = Set.of(reader, writer);
        this.mutex = new LineRole(MEASURED_AS, mutex, Set.of(mutex), LineRule.immediatePredecessor());
        this.reader = new LineRole(MEASURED_AS, reader, shared, (before, own) -> nearest(writer, before));
        this.writer = new LineRole(MEASURED_AS, writer, shared, LineRule.immediatePredecessor());
        this.word = word;
    }

    private static Optional<LineEntry> nearest(EntryKind kind, List<LineEntry> before) {
        for (int i = before.size() - 1; i >= 0; i--) {
            if (before.get(i).kind().equals(kind)) {
                return Optional.of(before.get(i));
            }
        }
        return Optional.empty();
    }

    /** As what contenders for a mutex stand in its line. */
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
