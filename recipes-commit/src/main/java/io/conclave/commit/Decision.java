package io.conclave.commit;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * What became of a transaction, for all sites.
 *
 * @param isCommit whether it is committed
 * @param reason why it is aborted, for people; empty if it is committed
 */
public record Decision(boolean isCommit, String reason) {
    static final Decision COMMIT = new Decision(true, "");

    private static final int MAX_CHARS = 1_000;
    private static final String COMMIT_WORD = "commit";
    private static final String ABORT_WORD = "abort";

    /** Rejects nulls. */
    public Decision {
        Objects.requireNonNull(reason, "reason");
    }

    /** What is kept for a while is kept small. */
    static Decision abort(String reason) {
        return new Decision(false, reason.length() > MAX_CHARS ? reason.substring(0, MAX_CHARS) + "..." : reason);
    }

    byte[] toBytes() {
        return (isCommit ? COMMIT_WORD : ABORT_WORD + "\n" + reason).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Everything but a commitment is an abortion: nothing else is ever written, and to commit by mistake would be
     * worse.
     */
    static Decision parse(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (text.equals(COMMIT_WORD)) {
            return COMMIT;
        }
        int line = text.indexOf('\n');
        return abort(line < 0 ? text : text.substring(line + 1));
    }

    @Override
    public String toString() {
        return isCommit ? "COMMIT" : "ABORT (" + reason + ")";
    }
}
