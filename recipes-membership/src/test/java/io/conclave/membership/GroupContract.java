package io.conclave.membership;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.SetData;
import io.conclave.testkit.ManualTimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a group promises, whatever the backend. */
public abstract class GroupContract extends GroupSettlingContract {
    @Test
    void memberIsSeenWithItsPayloadUntilItLeaves() throws Exception {
        Coordinator other = connect();
        assertEquals(List.of(), groupOf(other).members());
        try (Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE)) {
            assertEquals(MembershipState.MEMBER, me.state());
            assertTrue(me.isMember());
            Member<String> seen = groupOf(other).members().get(0);
            assertEquals("a", seen.id());
            assertEquals("one", seen.payload());
            assertEquals(me.token().orElseThrow(), seen.token());
            me.update("two");
            assertEquals(List.of("a=two"), texts(groupOf(other).members()));
            get(me.closeAsync()); // close() waits no longer than the session has left
        }
        assertEquals(List.of(), groupOf(other).members());
    }

    @Test
    void membershipThatWasLeftIsOverForGood() throws Exception {
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        me.leave();
        assertEquals(MembershipState.ENDED, me.state());
        assertFalse(me.isMember());
        assertTrue(me.token().isEmpty());
        assertEquals(LossReason.RELEASED, get(me.ended().toCompletableFuture()));
        assertThrows(GrantLostException.class, () -> me.update("two"));
        me.leave();
    }

    @Test
    void joinWithBadArgumentsLeavesNoMemberBehind() throws Exception {
        Coordinator coordinator = connect();
        DataCodec<String> codec = DataCodec.of(text -> null, data -> "");
        Group<String> unwritten = Group.at(coordinator, PATH, codec);
        assertThrows(IllegalArgumentException.class, () -> unwritten.joinAsync("a", "no data"));
        assertThrows(NullPointerException.class, () -> groupOf(coordinator).joinAsync("a", "one", null));
        assertThrows(IllegalArgumentException.class, () -> groupOf(coordinator)
                .joinAsync("a", "one", Duration.ofSeconds(-1)));
        groupOf(coordinator).join("a", "two", PATIENCE);
        assertEquals(List.of("a=two"), texts(groupOf(coordinator).members()));
    }

    @Test
    void payloadThatTheCodecCannotEncodeIsRefusedAndTheNextOneIsWritten() throws Exception {
        Coordinator coordinator = connect();
        DataCodec<String> codec =
                DataCodec.of(text -> text.isEmpty() ? null : text.getBytes(StandardCharsets.UTF_8), data -> {
                    throw new AssertionError("as deep as the stack");
                });
        Membership<String> me = Group.at(coordinator, PATH, codec).join("a", "one", PATIENCE);
        assertThrows(IllegalArgumentException.class, () -> me.update(""));
        get(me.updateAsync("two"));
        assertEquals(List.of("a=two"), texts(groupOf(coordinator).members()));
        Member<String> unread = Group.at(coordinator, PATH, codec).members().get(0);
        assertThrows(IllegalArgumentException.class, unread::payload);
    }

    @Test
    void continuationThatBlocksAfterAMembershipHoldsUpNoOther() throws Exception {
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        CompletableFuture<LossReason> first = me.ended().toCompletableFuture();
        CountDownLatch over = new CountDownLatch(1);
        CompletableFuture<Boolean> blocked = me.ended().toCompletableFuture().thenApply(reason -> {
            try {
                return over.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                return false;
            }
        });
        me.leave();
        assertEquals(LossReason.RELEASED, first.get(PATIENCE.toSeconds() / 2, TimeUnit.SECONDS));
        over.countDown();
        assertTrue(get(blocked));
    }

    @Test
    void memberDisappearsWhenItsCoordinatorCloses() throws Exception {
        Coordinator gone = connect();
        Coordinator other = connect();
        Membership<String> me = groupOf(gone).join("a", "one", PATIENCE);
        groupOf(other).join("b", "two", PATIENCE);
        gone.close();
        awaitMembers(other, "b=two");
        assertEquals(LossReason.COORDINATOR_CLOSED, get(me.ended().toCompletableFuture()));
    }

    @Test
    void memberThatLostItsSessionJoinsAgainWithItsLatestPayload() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator other = connect();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Membership<String> me = groupOf(coordinator).join("a", "one", PATIENCE);
        List<MembershipState> states = Collections.synchronizedList(new ArrayList<>());
        me.onStateChange(states::add);
        me.update("two");
        FencingToken first = me.token().orElseThrow();
        loseSession(coordinator, clock);
        await().atMost(PATIENCE)
                .until(() -> me.state() == MembershipState.MEMBER
                        && me.token()
                                .filter(token -> token.compareTo(first) > 0)
                                .isPresent());
        awaitMembers(other, "a=two");
        await().atMost(PATIENCE).until(() -> states.equals(List.of(MembershipState.REJOINING, MembershipState.MEMBER)));
        me.leave();
        awaitMembers(other);
    }

    @Test
    void memberJoinsWithWhatWasUpdatedWhileItHadNoSession() throws Exception {
        ManualTimeSource clock = jumpingClock();
        Coordinator other = connect();
        Coordinator coordinator = opened(builder().timeSource(clock));
        Membership<String> me = groupOf(coordinator).join("a", "one", PATIENCE);
        CompletableFuture<CompletableFuture<Void>> updated = new CompletableFuture<>();
        me.onStateChange(state -> {
            if (state == MembershipState.REJOINING) {
                updated.complete(me.updateAsync("two"));
            }
        });
        loseSession(coordinator, clock);
        get(get(updated));
        awaitMembers(other, "a=two");
    }

    @Test
    void listingInAContinuationDoesNotWaitForItself() throws Exception {
        Coordinator coordinator = connect();
        Group<String> group = groupOf(coordinator);
        group.join("a", "one", PATIENCE);
        assertEquals(List.of("a"), get(group.membersAsync().thenCompose(members -> listed(group))));
        assertEquals(
                List.of("a"),
                get(coordinator
                        .submit(Exists.of(NodePath.ROOT))
                        .thenCompose(root -> listed(group))
                        .toCompletableFuture()));
    }

    private static CompletableFuture<List<String>> listed(Group<String> group) {
        try {
            return CompletableFuture.completedFuture(ids(group.members()));
        } catch (InterruptedException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Test
    void joinWithATakenIdWaitsUntilItIsFree() throws Exception {
        Membership<String> first = groupOf(connect()).join("a", "first", PATIENCE);
        Coordinator coordinator = connect();
        CompletableFuture<Membership<String>> second = groupOf(coordinator).joinAsync("a", "second");
        assertThrows(
                AcquireTimeoutException.class, () -> groupOf(connect()).join("a", "third", Duration.ofMillis(100)));
        assertFalse(second.isDone());
        first.update("still first");
        awaitMembers(coordinator, "a=still first");
        first.leave();
        try (Membership<String> me = get(second)) {
            awaitMembers(coordinator, "a=second");
            assertTrue(me.isMember());
        }
        awaitMembers(coordinator);
    }

    @Test
    void idOfOneCoordinatorHasOneMemberAtATimeToo() throws Exception {
        Coordinator coordinator = connect();
        Membership<String> first = groupOf(coordinator).join("a", "first", PATIENCE);
        CompletableFuture<Membership<String>> second = groupOf(coordinator).joinAsync("a", "second");
        CompletableFuture<Membership<String>> third = groupOf(coordinator).joinAsync("a", "third");
        assertTrue(second.cancel(true));
        first.leave();
        get(third);
        awaitMembers(coordinator, "a=third");
    }

    @Test
    void joinThatIsInterruptedOrCancelledLeavesNothing() throws Exception {
        Coordinator coordinator = connect();
        Membership<String> first = groupOf(coordinator).join("a", "first", PATIENCE);
        Coordinator other = connect();
        CompletableFuture<Thread> joining = new CompletableFuture<>();
        Future<?> interrupted = threads.submit(() -> {
            joining.complete(Thread.currentThread());
            assertThrows(InterruptedException.class, () -> groupOf(other).join("a", "second"));
        });
        CompletableFuture<Membership<String>> cancelled = groupOf(other).joinAsync("a", "x");
        get(joining).interrupt();
        interrupted.get(
                PATIENCE.toSeconds(), TimeUnit.SECONDS); // before the id is free: it would be given what it waits for
        cancelled.cancel(true);
        first.leave();
        awaitMembers(coordinator);
        groupOf(coordinator).join("a", "third", PATIENCE);
        awaitMembers(coordinator, "a=third");
    }

    @Test
    void memberWithADeletedZnodeIsOutAndDoesNotJoinAgain() throws Exception {
        Coordinator coordinator = connect();
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        coordinator.execute(Delete.of(me.path()));
        assertEquals(LossReason.NODE_DELETED, get(me.ended().toCompletableFuture()));
        assertFalse(me.isMember());
        assertEquals(List.of(), groupOf(coordinator).members());
    }

    @Test
    void payloadWrittenByAnotherClientIsReplacedByTheNextUpdate() throws Exception {
        Coordinator coordinator = connect();
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        coordinator.execute(SetData.of(me.path(), new byte[] {1}));
        me.update("two");
        awaitMembers(coordinator, "a=two");
    }

    @Test
    void updatesThatFollowEachOtherQuicklyEndWithTheLast() throws Exception {
        Coordinator coordinator = connect();
        Membership<String> me = groupOf(coordinator).join("a", "0", PATIENCE);
        List<CompletableFuture<Void>> updates = new ArrayList<>();
        for (int i = 1; i <= 50; i++) {
            updates.add(me.updateAsync(Integer.toString(i)));
        }
        for (CompletableFuture<Void> update : updates) {
            get(update);
        }
        awaitMembers(connect(), "a=50");
    }

    @Test
    void payloadThatIsTooLargeIsRefusedAndTheOneBeforeStands() throws Exception {
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        assertThrows(RefusedException.class, () -> me.update("x".repeat(3_000_000)));
        me.update("two");
        awaitMembers(connect(), "a=two");
    }

    @Test
    void groupIsCreatedOnceAndDeletedWithItsMembers() throws Exception {
        Group<String> group = groupOf(connect());
        assertFalse(group.exists());
        assertFalse(get(group.existsAsync()));
        assertFalse(group.delete());
        assertTrue(group.create());
        assertFalse(group.create());
        assertTrue(group.exists());
        assertTrue(get(group.existsAsync()));
        assertEquals(List.of(), group.members());
        Membership<String> a = groupOf(connect()).join("a", "one", PATIENCE);
        Membership<String> b = groupOf(connect()).join("b", "two", PATIENCE);
        assertTrue(group.delete());
        assertFalse(group.exists());
        assertEquals(LossReason.NODE_DELETED, get(a.ended().toCompletableFuture()));
        assertEquals(LossReason.NODE_DELETED, get(b.ended().toCompletableFuture()));
    }

    @Test
    void groupWithAChildThatHasChildrenIsNotDeleted() throws Exception {
        Coordinator coordinator = connect();
        Group<String> group = groupOf(coordinator);
        group.create();
        coordinator.execute(Create.of(NodePath.of(PATH + "/sub")));
        coordinator.execute(Create.of(NodePath.of(PATH + "/sub/below")));
        assertThrows(RefusedException.class, group::delete);
    }

    @Test
    void payloadThatTheCodecDoesNotUnderstandHidesNoMember() throws Exception {
        Group.at(connect(), PATH, DataCodec.TEXT).join("a", "no number", PATIENCE);
        Member<Long> seen = Group.at(connect(), PATH, DataCodec.LONG).members().get(0);
        assertEquals("a", seen.id());
        assertTrue(assertThrows(IllegalArgumentException.class, seen::payload)
                .getMessage()
                .contains(PATH + "/a"));
    }

    @Test
    void badInputIsNamed() throws Exception {
        Coordinator coordinator = connect();
        assertThrows(IllegalArgumentException.class, () -> Group.at(coordinator, "/", DataCodec.TEXT));
        assertThrows(IllegalArgumentException.class, () -> groupOf(coordinator).join("a/b", "x", PATIENCE));
        assertThrows(IllegalArgumentException.class, () -> groupOf(coordinator).join("a", "x", Duration.ofSeconds(-1)));
        assertTrue(groupOf(coordinator).toString().contains(PATH));
    }

    @Test
    void completingOrCancellingAFutureDoesNotAffectOthers() throws Exception {
        Membership<String> me = groupOf(connect()).join("a", "one", PATIENCE);
        assertTrue(me.ended().complete(LossReason.REVOKED));
        assertTrue(me.ended().cancel(true));
        assertTrue(me.isMember());
        assertFalse(me.ended().isDone());
        me.closeAsync().cancel(true);
        assertEquals(LossReason.RELEASED, get(me.ended()));
        assertTrue(me.ended().isDone());
    }
}
