package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.CoreStatus;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.entry.LogState.Proposer;
import io.conclave.consensus.entry.Start;

/**
 * What members tell each other first on each link, and what a member concludes from it about its own disk: see
 * docs/decisions/0013. A member judges only itself, since only it knows its present start for certain.
 */
final class Greetings {
    private final Core core;
    private final LogApplier applier;
    private final int self;
    private final Start start;

    Greetings(Core core, LogApplier applier, int self, Start start) {
        this.core = core;
        this.applier = applier;
        this.self = self;
        this.start = start;
    }

    /** What to tell the member that has shown that directory; only what is committed. */
    Greeting to(int member, long directory) {
        Proposer proposer = applier.proposer(member);
        Start last = proposer == null ? Start.NONE : proposer.start();
        return new Greeting(
                last.directory() == directory ? last : Start.NONE,
                core.acknowledgedIndex(member, directory),
                applier.index(),
                applier.term(),
                applier.configurationIndex());
    }

    /**
     * A member has greeted this one.
     *
     * @throws WrongDiskException if this member's disk was set back to an older state
     */
    void from(int member, Greeting greeting) {
        from(member, greeting, start);
    }

    /** The same, by the start that is in question. */
    void from(int member, Greeting greeting, Start judged) {
        core.heard(member);
        CoreStatus status = core.status();
        boolean isOnlyVoter = status.configuration().isOnlyVoter(self);
        if (isOnlyVoter) {
            judgeOnlyVoter(member, greeting, status);
        }
        if (judged.isOvertakenBy(greeting.known()) && !isFromBefore(judged, greeting)) {
            throw new WrongDiskException(
                    "this is start " + judged.number() + " in this member's directory, but member " + member
                            + " knows that start " + greeting.known().number()
                            + " of it was committed: this member's disk was set back to an older state, or its "
                            + "directory was copied",
                    !isOnlyVoter,
                    0);
        }
        if (!status.provisional()
                && isForThisDirectory(greeting)
                && greeting.acknowledgedIndex() > status.lastIndex()) {
            throw new WrongDiskException(
                    "this member's log ends at index " + status.lastIndex() + ", but it has told member " + member
                            + " that it has index " + greeting.acknowledgedIndex()
                            + ", which is committed: its disk was set back to an older state, or lost what was synced",
                    true,
                    greeting.acknowledgedIndex());
        }
    }

    /**
     * Whether the sender speaks of a time before the start was committed, as this member's log has it. A start that is
     * overtaken is not accepted there. So what the sender knew was forgotten by then: a member that had another
     * directory in between was taken in again with this one, as one that has lost its log.
     */
    private boolean isFromBefore(Start judged, Greeting greeting) {
        Proposer own = applier.proposer(self);
        return own != null && own.start().equals(judged) && greeting.commitIndex() < own.incarnation();
    }

    /** Otherwise it is about an earlier directory of this member: its sender has not seen this one yet. */
    private boolean isForThisDirectory(Greeting greeting) {
        Start known = greeting.known();
        return known.equals(Start.NONE) || known.directory() == start.directory();
    }

    /** Nothing is committed without the only voter, so it has all that others know to be committed. */
    private void judgeOnlyVoter(int member, Greeting greeting, CoreStatus status) {
        if (greeting.configurationIndex() > status.configurationIndex()) {
            throw new WrongDiskException(
                    "this member is the only voter by its own log, but member " + member + " knows of a later change of"
                            + " the members, at index " + greeting.configurationIndex()
                            + ": this member's disk was set back to an older state",
                    true,
                    0);
        }
        long termHere = core.termAt(greeting.commitIndex());
        boolean differs = termHere >= 0 && termHere != greeting.commitTerm();
        if (greeting.configurationIndex() == status.configurationIndex()
                && (greeting.commitIndex() > status.lastIndex() || differs)) {
            throw new WrongDiskException(
                    "this member is the only voter by its own log, which ends at index " + status.lastIndex()
                            + ", but member " + member + " has index " + greeting.commitIndex() + " of term "
                            + greeting.commitTerm()
                            + " as committed: this member's disk was set back to an older state. The newest"
                            + " data are on member " + member + ": restore this member's disk as it was last",
                    false,
                    0);
        }
    }
}
