package io.conclave.consensus.member;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState.Proposer;
import io.conclave.consensus.entry.Origin;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Numbers and incarnations of what a member proposes. */
class OwnProposalsTest {
    private static final ClusterConfiguration WITH =
            new ClusterConfiguration(Map.of(7, new EnsembleMember(7, 1, "h", 1, "", 0, false)), Set.of(7), Set.of());
    private static final int ALL = 1 << 20;
    private static final int LEADER = 3;

    private final ProposalQueue queue = new ProposalQueue(100, 1 << 20, () -> {});
    private long nonce = 100;
    private final OwnProposals own = new OwnProposals(queue, 7, () -> nonce++);
    private final List<Rejection> rejections = new ArrayList<>();
    private int unknown;

    private ProposalQueue.Proposed item() {
        ProposalQueue.Proposed item = new ProposalQueue.Proposed(
                LogEntryKind.APPLICATION,
                new byte[3],
                new Proposal() {
                    @Override
                    public byte[] payload() {
                        return new byte[3];
                    }

                    @Override
                    public void rejected(Rejection reason) {
                        rejections.add(reason);
                    }

                    @Override
                    public void outcomeUnknown() {
                        unknown++;
                    }
                },
                0);
        return item;
    }

    /**
     * Removed and put back while this member was behind: a copy of its start made an incarnation of a higher index, of
     * which it hears through a snapshot only.
     */
    @Test
    void aSnapshotWithTheSameStartAtAnotherIndexBeginsThatIncarnation() {
        own.configured(WITH);
        Started start = Started.of(own.next(LEADER, 1, ALL).get(0)).orElseThrow();
        own.started(start, 10);
        own.add(item());
        own.add(item());
        own.next(LEADER, 1, ALL);

        own.installed(new Proposer(50, start.nonce(), 0, start.start()));
        assertEquals(2, unknown);
        own.add(item());
        List<LogEntry> sent = own.next(LEADER, 1, ALL);
        assertEquals(1, sent.size());
        assertEquals(50, sent.get(0).origin().incarnation());
        assertEquals(1, sent.get(0).origin().sequence());
        assertTrue(own.accepted(sent.get(0).origin(), LogEntryKind.APPLICATION) != null);
        assertTrue(own.isEmpty());
    }

    /** Begins an incarnation of this index, and sends so many proposals. */
    private Started begin(long index, int proposals) {
        own.configured(WITH);
        Started start = Started.of(own.next(LEADER, 1, ALL).get(0)).orElseThrow();
        own.started(start, index);
        for (int i = 0; i < proposals; i++) {
            own.add(item());
        }
        assertEquals(proposals, own.next(LEADER, 1, ALL).size());
        return start;
    }

    private static Origin origin(long sequence) {
        return new Origin(7, 10, sequence);
    }

    @Test
    void whatWasSentOnceAndIsRefusedIsRejectedAndKeepsItsNumberWithoutEffect() {
        begin(10, 3);
        own.refused(LEADER, 10, 2, 2);
        assertEquals(List.of(Rejection.DISK_FULL), rejections);
        assertTrue(own.awaitsRoom());

        own.sendAgain();
        List<LogEntry> sent = own.next(LEADER, 2, ALL);
        assertEquals(
                List.of(LogEntryKind.APPLICATION, LogEntryKind.FEATURE_LEVEL, LogEntryKind.APPLICATION),
                sent.stream().map(LogEntry::kind).toList());
        assertEquals(
                List.of(1L, 2L, 3L),
                sent.stream().map(entry -> entry.origin().sequence()).toList());

        assertTrue(own.accepted(origin(1), LogEntryKind.APPLICATION) != null);
        assertTrue(own.accepted(origin(2), LogEntryKind.FEATURE_LEVEL) == null);
        assertFalse(own.awaitsRoom());
        assertTrue(own.accepted(origin(3), LogEntryKind.APPLICATION) != null);
        assertTrue(own.isEmpty());
        assertEquals(1, rejections.size());
        assertEquals(0, unknown);
    }

    @Test
    void readsDoNotWaitForTheEntryInThePlaceOfARefusedProposal() {
        begin(10, 2);
        own.refused(LEADER, 10, 1, 1);
        assertEquals(1, own.settled());
        own.refused(LEADER, 10, 2, 2);
        assertEquals(2, own.settled());
        assertTrue(own.isEmpty());
    }

    /** The first copy may be in a log. */
    @Test
    void whatWasSentTwiceIsNotRejectedUntilTheEntryOfItsNumberIsApplied() {
        begin(10, 2);
        own.sendAgain();
        own.next(LEADER, 1, ALL);
        own.refused(LEADER, 10, 1, 2);
        assertEquals(List.of(), rejections);
        assertEquals(0, own.settled());

        assertTrue(own.accepted(origin(1), LogEntryKind.APPLICATION) != null);
        assertTrue(own.accepted(origin(2), LogEntryKind.FEATURE_LEVEL) == null);
        assertEquals(List.of(Rejection.DISK_FULL), rejections);
        assertTrue(own.isEmpty());
    }

    @Test
    void aRefusalOfAnotherIncarnationMeansNothing() {
        begin(10, 1);
        own.refused(LEADER, 9, 1, 1);
        assertEquals(List.of(), rejections);
        assertFalse(own.awaitsRoom());
    }

    /** It may be in the log of the one that leads. */
    @Test
    void aRefusalOfAnotherMemberMeansNothing() {
        begin(10, 1);
        own.refused(LEADER + 1, 10, 1, 1);
        assertEquals(List.of(), rejections);
        assertFalse(own.awaitsRoom());
        own.refused(LEADER, 10, 1, Long.MAX_VALUE);
        assertEquals(1, rejections.size());
    }

    @Test
    void whatIsRefusedTwiceIsRejectedOnce() {
        begin(10, 1);
        own.refused(LEADER, 10, 1, 1);
        own.refused(LEADER, 10, 1, 1);
        assertEquals(1, rejections.size());
        own.abandon();
        assertEquals(0, unknown);
    }

    /** Its number ends with the incarnation; it must not come back with a new one. */
    @Test
    void aRefusedProposalDoesNotComeBackInTheNextIncarnation() {
        Started start = begin(10, 2);
        own.refused(LEADER, 10, 1, 1);
        own.started(new Started(7, start.nonce() + 50, start.start()), 20); // another start of this member
        Started next = Started.of(own.next(LEADER, 2, ALL).get(0)).orElseThrow();
        own.started(next, 30);
        assertFalse(own.awaitsRoom());
        List<LogEntry> sent = own.next(LEADER, 2, ALL);
        assertEquals(1, sent.size());
        assertEquals(LogEntryKind.APPLICATION, sent.get(0).kind());
        assertEquals(new Origin(7, 30, 1), sent.get(0).origin());
        own.refused(LEADER, 30, 1, 1);
        assertEquals(2, rejections.size(), "it was sent once with this number");
    }
}
