package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.connection.MembershipService;
import io.conclave.consensus.ChangeOutcomeUnknownException;
import io.conclave.consensus.CommittedBatch;
import io.conclave.consensus.ImpossibleChangeException;
import io.conclave.consensus.LogListener;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.MembershipChange;
import io.conclave.consensus.StateMachine;
import io.conclave.consensus.StateSnapshot;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.simulation.SimulatedMember;
import io.conclave.consensus.simulation.SimulatedNetwork;
import io.conclave.consensus.simulation.VirtualTime;
import io.conclave.testkit.ManualTimeSource;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests of four members to change the members, which reach the leader late, in virtual time. */
class LateMembershipRequestTest {
    private static final long SECOND_US = 1_000_000;
    private static final int LEVEL = 1;
    private static final List<MembershipChange> WITHOUT_3 = List.of(new MembershipChange.Remove(3));

    private final VirtualTime time = new VirtualTime();
    private final ManualTimeSource serverTime = new ManualTimeSource();
    private final Random random = new Random(1);
    private final SimulatedNetwork network = new SimulatedNetwork(time, random);
    private final Map<Integer, EnsembleMember> listed = new TreeMap<>();
    private final Map<Integer, Server> servers = new TreeMap<>();

    /** As much of a server as knows of changes of the members, and no state. */
    private final class Server
            implements SimulatedMember.Application, LogListener, StateMachine, MembershipService.Asker {
        final SimulatedMember member;
        final MembershipRequests requests;
        final List<String> answers = new ArrayList<>();
        ClusterConfiguration applied = ClusterConfiguration.NONE;

        Server(SimulatedMember member) {
            this.member = member;
            member.start(member.options(listed, member.id() == 1).build(), this);
            requests = new MembershipRequests(member.log(), serverTime, LEVEL);
        }

        ClusterConfiguration configuration() {
            return member.log().status().configuration();
        }

        @Override
        public boolean noted(int from, byte[] note) {
            requests.asked(from, HeartbeatNote.decode(note));
            return true;
        }

        @Override
        public void told(int from, byte[] note) {
            requests.answered(ServerAnswer.decode(note));
        }

        @Override
        public void leading(long term) {}

        @Override
        public void deposed() {}

        @Override
        public void serving(boolean serving) {
            if (!serving) {
                requests.serviceEnds(applied);
                if (!applied.members().containsKey(member.id())) {
                    answers.add("not serving");
                }
            }
        }

        @Override
        public void configured(ClusterConfiguration present) {
            applied = present;
        }

        @Override
        public void made() {
            answers.add("made");
        }

        @Override
        public void failed(Throwable cause) {
            answers.add(cause.toString());
        }

        @Override
        public StateMachine machine() {
            return this;
        }

        @Override
        public LogListener listener() {
            return this;
        }

        @Override
        public boolean isReading() {
            return false;
        }

        @Override
        public void ended() {}

        @Override
        public void begin(UUID clusterId) {}

        @Override
        public void apply(CommittedBatch batch) {}

        @Override
        public StateSnapshot snapshot() {
            return out -> {};
        }

        @Override
        public void drop() {}

        @Override
        public Runnable read(InputStream snapshot) {
            return () -> {};
        }
    }

    @BeforeEach
    void fourVoters() {
        for (int id = 1; id <= 4; id++) {
            listed.put(id, new EnsembleMember(id, 0, "host-" + id, 1, "", 0, false));
        }
        for (int id = 1; id <= 4; id++) {
            servers.put(id, new Server(new SimulatedMember(id, time, network, random, false)));
        }
        awaitVoters(1, 2, 3, 4);
    }

    private Server leader() {
        return servers.values().stream()
                .filter(server -> server.member.log().status().role() == LogRole.LEADING)
                .findFirst()
                .orElseThrow();
    }

    private void await(String what, BooleanSupplier condition) {
        long untilUs = time.nowUs() + 60 * SECOND_US;
        while (!condition.getAsBoolean()) {
            time.run(10_000);
            assertTrue(time.nowUs() < untilUs, () -> "not within 60 s: " + what);
        }
    }

    private void awaitVoters(Integer... ids) {
        Set<Integer> voters = Set.of(ids);
        await("voters " + voters, () -> servers.values().stream()
                .filter(server -> voters.contains(server.member.id()))
                .allMatch(server -> server.configuration().voters().equals(voters)
                        && !server.configuration().isJoint()));
    }

    private void make(MembershipChange change) {
        CompletableFuture<Void> made = leader().member.log().change(change).toCompletableFuture();
        await("the change", made::isDone);
        made.join();
    }

    @Test
    void aRemovalAskedOfAMemberThatIsCutOffIsNotMadeAfterItWasMadeAndUndoneElsewhere() {
        assertEquals(1, leader().member.id());
        network.isolate(2);
        CompletableFuture<Void> late = servers.get(2).requests.change(WITHOUT_3).toCompletableFuture();
        make(new MembershipChange.Remove(3));
        make(new MembershipChange.Put(listed.get(3)));
        await("the vote of 3", () -> leader().configuration().voters().equals(Set.of(1, 2, 3, 4)));
        assertFalse(late.isDone());
        network.heal();
        time.run(10 * SECOND_US);
        assertEquals(Set.of(1, 2, 3, 4), leader().configuration().voters());
        await("its answer", late::isDone);
        Throwable unknown = assertThrows(CompletionException.class, late::join).getCause();
        assertTrue(unknown instanceof ChangeOutcomeUnknownException, unknown::toString);
    }

    /** One of them leads by then, and its own note comes to it; there is no link to itself for the answer. */
    @Test
    void aRefusalReachesAMemberThatLeadsByThen() {
        assertEquals(1, leader().member.id());
        servers.get(1).member.kill();
        MembershipChange taken = new MembershipChange.Put(new EnsembleMember(5, 0, "host-2", 1, "", 0, false));
        List<CompletableFuture<Void>> refused = new ArrayList<>();
        for (int id = 2; id <= 4; id++) {
            refused.add(servers.get(id).requests.change(List.of(taken)).toCompletableFuture());
        }
        for (CompletableFuture<Void> request : refused) {
            await("the refusal", request::isDone);
            Throwable cause =
                    assertThrows(CompletionException.class, request::join).getCause();
            assertTrue(cause instanceof ImpossibleChangeException, cause::toString);
        }
    }

    @Test
    void aRemovalAskedOfAMemberThatIsCutOffIsMadeLateIfNothingElseWas() {
        network.isolate(2);
        CompletableFuture<Void> late = servers.get(2).requests.change(WITHOUT_3).toCompletableFuture();
        time.run(10 * SECOND_US);
        network.heal();
        awaitVoters(1, 2, 4);
        await("its answer", late::isDone);
        late.join();
    }

    /** No leader answers a member that was removed. */
    @Test
    void aRemovalAskedOfTheVeryMemberIsAnsweredBeforeThatStopsServing() {
        Server follower = servers.get(3);
        follower.requests.change(WITHOUT_3, follower);
        await("its end", () -> follower.answers.contains("not serving"));
        assertEquals(List.of("made", "not serving"), follower.answers);
    }

    /** Whatever the order in which they are asked for. */
    @Test
    void removalsAskedOfOneOfThemAreAnsweredBeforeThatStopsServing() {
        Server follower = servers.get(3);
        follower.requests.change(List.of(new MembershipChange.Remove(3), new MembershipChange.Remove(4)), follower);
        await("its end", () -> follower.answers.contains("not serving"));
        assertEquals(List.of("made", "not serving"), follower.answers);
    }

    @Test
    void aRemovalAskedOfTheLeaderThatIsToGoIsAnsweredBeforeThatStopsServing() {
        Server leader = leader();
        leader.requests.change(List.of(new MembershipChange.Remove(leader.member.id())), leader);
        await("its end", () -> leader.answers.contains("not serving"));
        assertEquals(List.of("made", "not serving"), leader.answers);
    }

    @Test
    void aRemovalOfAnotherMemberIsAnsweredWhenItIsShown() {
        Server follower = servers.get(2);
        follower.requests.change(WITHOUT_3, follower);
        await("the answer", () -> !follower.answers.isEmpty());
        assertEquals(List.of("made"), follower.answers);
        assertFalse(follower.applied.members().containsKey(3));
    }

    @Test
    void severalChangesAskedOfAFollowerAreMadeOneBehindTheOther() {
        CompletableFuture<Void> changes = servers.get(2)
                .requests
                .change(List.of(new MembershipChange.Remove(4), new MembershipChange.Remove(3)))
                .toCompletableFuture();
        awaitVoters(1, 2);
        await("the answer", changes::isDone);
        changes.join();
    }

    /** The first has been made already, the second was undone. */
    @Test
    void whatFollowsAChangeThatHadBeenMadeIsNotMadeLate() {
        network.isolate(2);
        CompletableFuture<Void> late = servers.get(2)
                .requests
                .change(List.of(new MembershipChange.Remove(4, true), new MembershipChange.Remove(3, true)))
                .toCompletableFuture();
        make(new MembershipChange.Remove(3));
        make(new MembershipChange.Put(listed.get(3)));
        await("the vote of 3", () -> leader().configuration().voters().equals(Set.of(1, 2, 3, 4)));
        make(new MembershipChange.Remove(4));
        network.heal();
        await("its answer", late::isDone);
        time.run(10 * SECOND_US);
        assertEquals(Set.of(1, 2, 3), leader().configuration().voters());
        assertTrue(late.isCompletedExceptionally());
    }

    @Test
    void aMemberThatWasRemovedHasNothingChangedAnyMore() {
        make(new MembershipChange.Remove(4));
        HeartbeatNote note = new HeartbeatNote(LEVEL, new long[0], WITHOUT_3, 1, Long.MAX_VALUE);
        leader().requests.asked(4, note);
        time.run(10 * SECOND_US);
        assertEquals(Set.of(1, 2, 3), leader().configuration().voters());
    }

    @Test
    void aNoteOfEarlierSoftwareIsCarriedOutThoughItDoesNotSayWhatItsSenderKnows() {
        HeartbeatNote note = new HeartbeatNote(LEVEL, new long[] {5}, WITHOUT_3, 7, 9);
        byte[] bytes = note.encode();
        assertEquals(9, HeartbeatNote.decode(bytes).knownIndex());
        HeartbeatNote earlier = HeartbeatNote.decode(Arrays.copyOf(bytes, bytes.length - Long.BYTES));
        assertEquals(7, earlier.question());
        leader().requests.asked(2, earlier);
        awaitVoters(1, 2, 4);
    }
}
