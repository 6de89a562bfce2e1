package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.ChangeProposal;
import io.conclave.replica.Step;
import io.conclave.tree.Change;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class StateCheckTest {
    private static final int EVERY = 4;

    private final ScriptedLog log = new ScriptedLog();
    private final List<Change.CompareState> said = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final StateCheck check = new StateCheck(1, EVERY, log, wrong::add);
    private TreeState state = TreeState.initial(new UUID(1, 2), 0);

    StateCheckTest() {
        log.takes = proposal -> {
            said.add((Change.CompareState) ((ChangeProposal) proposal).change());
            return true;
        };
        log.start(new io.conclave.replica.Replica(2), io.conclave.consensus.LogListener.NONE);
        apply(new Change.RaiseFeatureLevel(2));
        check.configured(cluster(1, 2, 3));
    }

    private static ClusterConfiguration cluster(int... ids) {
        return withVoters(Arrays.stream(ids).boxed().collect(Collectors.toSet()), ids);
    }

    private static ClusterConfiguration withVoters(Set<Integer> voters, int... ids) {
        Map<Integer, EnsembleMember> members = new TreeMap<>();
        for (int id : ids) {
            members.put(id, new EnsembleMember(id, 0, "host-" + id, 1, "", 0, !voters.contains(id)));
        }
        return new ClusterConfiguration(members, voters, Set.of(), Set.of(), Set.of());
    }

    private void apply(Change change) {
        Step step = new Step(change, Tree.apply(state, change, 1), null);
        state = step.applied().state();
        check.applied(List.of(step));
    }

    /** Changes until this member has said what its state is. */
    private Change.CompareState awaitCheck() {
        int before = said.size();
        for (int i = 0; i < 2 * EVERY && said.size() == before; i++) {
            apply(new Change.RaiseFeatureLevel(2));
        }
        return said.get(before);
    }

    private void says(int member, Change.CompareState of, long digest) {
        apply(new Change.CompareState(member, of.zxid(), digest));
    }

    @Test
    void aVoterSaysItsDigestAtEverySoManyChanges() {
        Change.CompareState first = awaitCheck();
        assertEquals(0, first.zxid() % EVERY);
        assertEquals(new Change.CompareState(1, state.lastZxid(), state.digest()), first);
        assertEquals(first.zxid() + EVERY, awaitCheck().zxid());
    }

    @Test
    void membersThatAgreeGoOn() {
        Change.CompareState own = awaitCheck();
        for (int member = 1; member <= 3; member++) {
            says(member, own, own.digest());
        }
        assertEquals(List.of(), wrong);
    }

    @Test
    void aMemberThatDiffersFromAMajorityIsWrong() {
        Change.CompareState own = awaitCheck();
        says(1, own, own.digest());
        says(2, own, 7);
        assertEquals(List.of(), wrong);
        says(3, own, 7);
        assertEquals(1, wrong.size());
        assertTrue(wrong.get(0).contains("majority"), wrong.get(0));
    }

    @Test
    void anotherMemberThatIsWrongIsNoneOfItsBusiness() {
        Change.CompareState own = awaitCheck();
        says(1, own, own.digest());
        says(2, own, 7);
        says(3, own, own.digest());
        assertEquals(List.of(), wrong);
    }

    @Test
    void noMemberIsWrongWhereNoDigestHasAMajority() {
        check.configured(cluster(1, 2));
        Change.CompareState own = awaitCheck();
        says(1, own, own.digest());
        says(2, own, 7);
        assertEquals(List.of(), wrong);
    }

    @Test
    void anObserverComparesButSaysNothing() {
        check.configured(cluster(2, 3));
        for (int i = 0; i < EVERY; i++) {
            apply(new Change.RaiseFeatureLevel(2));
        }
        assertEquals(List.of(), said);
        long checked = state.lastZxid() - state.lastZxid() % EVERY;
        apply(new Change.CompareState(2, checked, 7));
        apply(new Change.CompareState(3, checked, 7));
        assertEquals(1, wrong.size());
    }

    @Test
    void theOnlyVoterSaysItsDigestToObservers() {
        check.configured(withVoters(Set.of(1), 1, 2));
        Change.CompareState own = awaitCheck();
        assertEquals(new Change.CompareState(1, state.lastZxid(), state.digest()), own);
        says(1, own, own.digest());
        assertEquals(List.of(), wrong);
    }

    @Test
    void anObserverThatDiffersFromTheOnlyVoterIsWrong() {
        check.configured(withVoters(Set.of(2), 1, 2));
        for (int i = 0; i < EVERY; i++) {
            apply(new Change.RaiseFeatureLevel(2));
        }
        assertEquals(List.of(), said);
        apply(new Change.CompareState(2, state.lastZxid() - state.lastZxid() % EVERY, 7));
        assertEquals(1, wrong.size());
    }

    @Test
    void aRepeatedDigestOfOneMemberIsNoMajority() {
        Change.CompareState own = awaitCheck();
        says(2, own, 7);
        says(2, own, 7);
        says(4, own, 7);
        assertEquals(List.of(), wrong);
    }

    @Test
    void aMemberByItselfAndMembersOfEarlierVersionsSayNothing() {
        check.configured(cluster(1));
        apply(new Change.RaiseFeatureLevel(2));
        for (int i = 0; i < 2 * EVERY; i++) {
            apply(new Change.RaiseFeatureLevel(2));
        }
        state = TreeState.initial(new UUID(1, 2), 0);
        check.configured(cluster(1, 2, 3));
        for (int i = 0; i < 2 * EVERY; i++) {
            apply(new Change.RaiseFeatureLevel(1));
        }
        assertEquals(List.of(), said);
    }

    @Test
    void aSnapshotBeginsAnew() {
        Change.CompareState own = awaitCheck();
        check.began(state);
        says(2, own, 7);
        says(3, own, 7);
        assertEquals(List.of(), wrong);
    }
}
