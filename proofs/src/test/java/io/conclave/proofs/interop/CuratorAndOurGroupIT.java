package io.conclave.proofs.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.config.SharedCounter;
import io.conclave.config.SharedValue;
import io.conclave.config.Versioned;
import io.conclave.membership.Group;
import io.conclave.membership.GroupView;
import io.conclave.membership.Membership;
import io.conclave.node.DataCodec;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Members of Curator's groups and of ours on one path see each other come, change and go; what stands in Curator's
 * shared values and counts is read and written by ours.
 */
class CuratorAndOurGroupIT extends CuratorBesideOurs {
    private static final String GROUP = "/groups/shared";
    private static final String VALUE = "/values/shared";
    private static final int SEED = 7;

    /** What Curator's SharedCount writes: four bytes, most significant first. */
    private static final DataCodec<Integer> CURATORS_COUNT = DataCodec.of(
            count -> ByteBuffer.allocate(Integer.BYTES).putInt(count).array(),
            data -> ByteBuffer.wrap(data).getInt());

    private Group<String> ours() {
        return Group.at(coordinator, GROUP, DataCodec.TEXT);
    }

    private GroupMember theirs(String id, String payload) {
        return new GroupMember(curator, GROUP, id, payload.getBytes(UTF_8));
    }

    private static void awaitSeen(GroupView<String> view, String expected) {
        await().atMost(PATIENCE).until(() -> {
            Map<String, String> seen = new TreeMap<>();
            view.snapshot().members().forEach(member -> seen.put(member.id(), member.payload()));
            return seen.toString().equals(expected);
        });
    }

    private static void awaitSeen(GroupMember member, String expected) {
        await().atMost(PATIENCE).until(() -> {
            Map<String, String> seen = new TreeMap<>();
            member.getCurrentMembers().forEach((id, payload) -> seen.put(id, new String(payload, UTF_8)));
            return seen.toString().equals(expected);
        });
    }

    @ParameterizedTest
    @EnumSource
    void membersOfBothSeeEachOther(ServerKind kind) throws Exception {
        open(kind);
        try (GroupMember they = theirs("curator", "one");
                GroupView<String> view = ours().view()) {
            they.start();
            awaitSeen(view, "{curator=one}");
            try (Membership<String> we = ours().join("ours", "two")) {
                awaitSeen(they, "{curator=one, ours=two}");
                we.update("three");
                awaitSeen(they, "{curator=one, ours=three}");
                they.setThisData("four".getBytes(UTF_8));
                awaitSeen(view, "{curator=four, ours=three}");
            }
            awaitSeen(they, "{curator=four}");
            they.close();
            awaitSeen(view, "{}");
        }
    }

    @ParameterizedTest
    @EnumSource
    void nameThatAMemberOfCuratorHasIsWaitedFor(ServerKind kind) throws Exception {
        open(kind);
        try (GroupMember they = theirs("a", "theirs");
                GroupView<String> view = ours().view()) {
            they.start();
            awaitSeen(view, "{a=theirs}");
            awaitSeen(they, "{a=theirs}"); // Curator leaves its znode behind if it is closed before it knows of it
            CompletableFuture<Membership<String>> joining = ours().joinAsync("a", "ours");
            assertFalse(joining.isDone());
            they.close();
            try (Membership<String> we = joining.get(120, SECONDS)) {
                awaitSeen(view, "{a=ours}");
                assertEquals("a", we.id());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void sharedValueIsCuratorsToo(ServerKind kind) throws Exception {
        open(kind);
        SharedValue<String> ours = SharedValue.at(coordinator, VALUE, DataCodec.TEXT);
        try (org.apache.curator.framework.recipes.shared.SharedValue theirs =
                new org.apache.curator.framework.recipes.shared.SharedValue(curator, VALUE, "seed".getBytes(UTF_8))) {
            theirs.start();
            Versioned<String> seed = ours.get().orElseThrow();
            assertEquals("seed", seed.value());
            assertTrue(ours.compareAndSet(seed, "ours").isPresent());
            await().atMost(PATIENCE).until(() -> new String(theirs.getValue(), UTF_8).equals("ours"));
            VersionedValue<byte[]> read = theirs.getVersionedValue();
            assertTrue(theirs.trySetValue(read, "theirs".getBytes(UTF_8)));
            assertEquals(Optional.empty(), ours.compareAndSet(seed, "too late"));
            assertFalse(theirs.trySetValue(read, "too late".getBytes(UTF_8)));
            assertEquals("theirs", ours.get().orElseThrow().value());
        }
    }

    @ParameterizedTest
    @EnumSource
    void sharedCountIsAValueOfOursAndNoCounter(ServerKind kind) throws Exception {
        open(kind);
        SharedValue<Integer> ours = SharedValue.at(coordinator, VALUE, CURATORS_COUNT);
        try (SharedCount theirs = new SharedCount(curator, VALUE, SEED)) {
            theirs.start();
            Versioned<Integer> seed = ours.get().orElseThrow();
            assertEquals(SEED, seed.value());
            assertTrue(ours.compareAndSet(seed, SEED + 1).isPresent());
            await().atMost(PATIENCE).until(() -> theirs.getCount() == SEED + 1);
            assertTrue(theirs.trySetCount(theirs.getVersionedValue(), SEED + 2));
            assertEquals(SEED + 2, ours.get().orElseThrow().value());
            SharedCounter counter = SharedCounter.at(coordinator, VALUE);
            IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> counter.add(1));
            assertTrue(refused.getMessage().contains("4 bytes are none"), refused.getMessage());
            assertEquals(SEED + 2, ours.get().orElseThrow().value());
        }
    }
}
