package io.conclave.consensus.member;

import io.conclave.consensus.DiskState;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.store.LogStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives each message of another member to the part of this one that it is for. */
final class ArrivedMessages {
    private static final Logger log = LoggerFactory.getLogger(ArrivedMessages.class);

    private final Core core;
    private final LogStore store;
    private final LogListener listener;
    private final Intake intake;
    private final Greetings greetings;
    private final PeerConflicts conflicts;
    private final SnapshotSender snapshotSender;

    ArrivedMessages(
            Core core,
            LogStore store,
            LogListener listener,
            Intake intake,
            Greetings greetings,
            PeerConflicts conflicts,
            SnapshotSender snapshotSender) {
        this.core = core;
        this.store = store;
        this.listener = listener;
        this.intake = intake;
        this.greetings = greetings;
        this.conflicts = conflicts;
        this.snapshotSender = snapshotSender;
    }

    /** @param directory the one that the member named for the link; 0 if that belonged to no cluster then */
    void take(long nowMs, int from, long directory, PeerMessage message) {
        if (isAnswer(message) && core.isAnother(from, directory)) {
            log.debug("ignoring {} of member {}: its directory is not the one that it shows", message, from);
        } else if (message instanceof PeerMessage.Forward forward) {
            intake.forwarded(from, forward.entries());
        } else if (message instanceof PeerMessage.Refusal refusal) {
            intake.refused(from, refusal);
        } else if (message instanceof PeerMessage.Note note) {
            listener.told(from, note.bytes());
        } else if (message instanceof PeerMessage.Greeting greeting) {
            greetings.from(from, greeting);
        } else if (message instanceof PeerMessage.TimeoutNow timeout && store.diskState() == DiskState.FULL) {
            core.decline(nowMs, from, timeout); // a member that cannot write would not lead for long
        } else {
            giveToCore(nowMs, from, message);
        }
    }

    private void giveToCore(long nowMs, int from, PeerMessage message) {
        core.receive(nowMs, from, message);
        conflicts.add(from, core.takeComplaint(), nowMs);
        if (message instanceof PeerMessage.SnapshotReply reply) {
            snapshotSender.answered(from, reply, nowMs);
        } else if (message instanceof PeerMessage.AppendReply reply) {
            snapshotSender.answered(from, reply, nowMs);
        }
    }

    /** What is counted for the directory that it comes from; a member that loses it is asked again on the next link. */
    private static boolean isAnswer(PeerMessage message) {
        return message instanceof PeerMessage.AppendReply
                || message instanceof PeerMessage.VoteReply
                || message instanceof PeerMessage.SnapshotReply;
    }
}
