package io.conclave.consensus.member;

import io.conclave.consensus.core.PeerMessage;
import java.util.function.BooleanSupplier;

/** What a turn puts on the links, and how soon that has to be on its way. */
final class OutgoingMessages {
    /** So many entries are applied in less time than a message takes. */
    private static final int FEW_ENTRIES = 64;

    /** What was put on links and is not on its way. */
    private enum Unsent {
        NOTHING,
        /** Only commit notices. */
        COMMITS,
        AWAITED
    }

    private final PeerLinks links;
    private BooleanSupplier silent = () -> false;
    private Unsent unsent = Unsent.NOTHING;

    OutgoingMessages(PeerLinks links) {
        this.links = links;
    }

    /** Drops everything while that is so. */
    void silentIf(BooleanSupplier condition) {
        silent = condition;
    }

    void send(int to, PeerMessage message) {
        if (silent.getAsBoolean()) {
            return;
        }
        links.send(to, message);
        if (unsent != Unsent.AWAITED) {
            unsent = message instanceof PeerMessage.Commit ? Unsent.COMMITS : Unsent.AWAITED;
        }
    }

    /**
     * Acknowledgements go before anything is applied. That something is committed may be sent once it is applied here,
     * as long as that is short: then a thread that waits here is not kept waiting by two writes to sockets.
     */
    void flushBeforeApplying(long entries) {
        if (unsent == Unsent.AWAITED || entries > FEW_ENTRIES) {
            flush();
        }
    }

    void flush() {
        if (unsent != Unsent.NOTHING) {
            unsent = Unsent.NOTHING;
            links.flush();
        }
    }
}
