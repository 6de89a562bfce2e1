package io.conclave.testkit.history;

import java.util.Objects;

/**
 * One request of a client and its outcome. Belongs to its {@link StoreHistory}, under whose lock it changes.
 *
 * <p>Moments are positions in the record, so that what was recorded as ended before another was recorded as submitted
 * did happen before it.
 */
public final class StoreOperation {
    /** What was asked. */
    public enum Kind {
        /** A znode's data was set, whatever its version. */
        SET,
        /** A sequential znode was created. */
        CREATE,
        /** A znode was read. */
        READ,
        /** A znode was read and watched. */
        WATCH
    }

    /** What became of it. */
    public enum Outcome {
        /** No answer yet. */
        PENDING,
        /** The answer came. */
        ANSWERED,
        /** There is no answer and there will be none; it may have been applied once, or not at all. */
        UNKNOWN,
        /** It was refused, and surely not applied. */
        REFUSED
    }

    static final long NEVER = Long.MAX_VALUE;

    final Kind kind;
    final String session;
    final long submittedAt;
    /** Of a creation: the parent, until the answer tells the name. */
    String path;

    long value;
    Outcome outcome = Outcome.PENDING;
    long endedAt = NEVER;
    long zxid;
    int version;
    /** Of a watch: when its event came. */
    long firedAt = NEVER;

    StoreOperation(Kind kind, String session, String path, long value, long submittedAt) {
        this.kind = kind;
        this.session = Objects.requireNonNull(session, "session");
        this.path = Objects.requireNonNull(path, "path");
        this.value = value;
        this.submittedAt = submittedAt;
    }

    boolean isWrite() {
        return kind == Kind.SET || kind == Kind.CREATE;
    }

    boolean isAnswered() {
        return outcome == Outcome.ANSWERED;
    }

    boolean hasFired() {
        return firedAt != NEVER;
    }

    /** In words, for a report. */
    @Override
    public String toString() {
        String end = endedAt == NEVER ? "" : " to " + endedAt;
        String answer =
                isAnswered() ? " zxid 0x" + Long.toHexString(zxid) + " version " + version : " " + outcome.name();
        return session + " " + kind + " " + path + " = " + value + " (at " + submittedAt + end + answer + ")";
    }
}
