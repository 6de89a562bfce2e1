package io.conclave.consensus.member;

import io.conclave.consensus.LogException;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Why a member's log ends, in words for its operator; a log that the others have outvoted is marked for that. */
final class EndCause {
    private static final Logger log = LoggerFactory.getLogger(EndCause.class);
    private static final String ADVICE =
            "To let it join the others without its log, run set-aside in its directory and start it again";

    private EndCause() {}

    /** @param store null if the directory was not opened */
    static LogException of(Throwable e, int member, @Nullable LogStore store) {
        if (e instanceof WrongDiskException wrong) {
            return new LogException(
                    wrong.getMessage() + ". " + (wrong.isOutvoted() ? condemn(wrong, member, store) : ADVICE), wrong);
        }
        return e instanceof LogException known ? known : new LogException("the log cannot go on: " + e, e);
    }

    /** What the next start does, in words. */
    private static String condemn(WrongDiskException wrong, int member, @Nullable LogStore store) {
        try {
            if (store != null) {
                store.condemn(String.valueOf(wrong.getMessage()));
            }
            return "Start member " + member + " again: it sets its log aside (nothing is deleted), and the others take"
                    + " it in as one with an empty directory";
        } catch (IOException e) {
            log.error("the directory of member {} could not be marked", member, e);
            return ADVICE;
        }
    }
}
