package io.conclave.consensus.member;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState.Proposer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Numbers and incarnations of what a member proposes. */
class OwnProposalsTest {
    private static final ClusterConfiguration WITH =
            new ClusterConfiguration(Map.of(7, new EnsembleMember(7, 1, "h", 1, "", 0, false)), Set.of(7), Set.of());
    private static final int ALL = 1 << 20;

    private final ProposalQueue queue = new ProposalQueue(100, 1 << 20, () -> {});
    private long nonce = 100;
    private final OwnProposals own = new OwnProposals(queue, 7, () -> nonce++);
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
                        throw new AssertionError("rejected: " + reason);
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
        Started start = Started.of(own.next(1, ALL).get(0)).orElseThrow();
        own.started(start, 10);
        own.add(item());
        own.add(item());
        own.next(1, ALL);

        own.installed(new Proposer(50, start.nonce(), 0, start.start()));
        assertEquals(2, unknown);
        own.add(item());
        List<LogEntry> sent = own.next(1, ALL);
        assertEquals(1, sent.size());
        assertEquals(50, sent.get(0).origin().incarnation());
        assertEquals(1, sent.get(0).origin().sequence());
        assertTrue(own.accepted(sent.get(0).origin()) != null);
        assertTrue(own.isEmpty());
    }
}
