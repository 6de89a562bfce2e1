package io.conclave.tree;

import static io.conclave.tree.TreeTester.create;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** How sessions begin, go on, are found silent and end. */
class TreeSessionTest {
    private final TreeTester tree = new TreeTester().open(1).open(2);

    @Test
    void closingASessionTakesItsEphemerals() {
        for (String path : List.of("/c", "/a", "/b")) {
            tree.request(1, create(path, ZnodeKind.EPHEMERAL));
        }
        tree.request(2, create("/other", ZnodeKind.EPHEMERAL));
        assertEquals(1, tree.stat("/a").ephemeralOwner());
        assertEquals(List.of("/a", "/b", "/c"), TreeReads.ephemerals(tree.state, 1, "/"));
        assertEquals(List.of("/b"), TreeReads.ephemerals(tree.state, 1, "/b"));
        tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.OPERATOR));
        assertEquals(
                List.of(
                        "DELETED /a",
                        "CHILDREN_CHANGED /",
                        "DELETED /b",
                        "CHILDREN_CHANGED /",
                        "DELETED /c",
                        "CHILDREN_CHANGED /"),
                tree.events());
        assertTrue(tree.state.session(1).isEmpty());
        assertEquals(List.of("other", "zookeeper"), tree.children("/"));
        assertEquals(1, tree.state.ephemeralCount());
        assertEquals(new Result.Failed(TreeError.SESSION_EXPIRED), tree.request(1, create("/d")));
        assertEquals(
                new Result.Failed(TreeError.SESSION_EXPIRED),
                tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.OPERATOR))
                        .result());
    }

    @Test
    void ephemeralsGoWhereverTheyAre() {
        tree.request(2, create("/a"));
        tree.request(2, create("/a/b"));
        tree.request(2, create("/a/b/c"));
        for (String path : List.of("/a/b/c/x", "/y", "/a/b/z", "/a/b/w")) {
            tree.request(1, create(path, ZnodeKind.EPHEMERAL));
        }
        tree.request(2, create("/a/b/c/other", ZnodeKind.EPHEMERAL));
        long untouched = tree.stat("/a").pzxid();
        tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.CLIENT));
        assertEquals(List.of("a", "zookeeper"), tree.children("/"));
        assertEquals(List.of("c"), tree.children("/a/b"));
        assertEquals(List.of("other"), tree.children("/a/b/c"));
        assertEquals(tree.last.zxid(), tree.stat("/a/b").pzxid());
        assertEquals(tree.last.zxid(), tree.stat("/a/b/c").pzxid());
        assertEquals(tree.last.zxid(), tree.stat("/").pzxid());
        assertEquals(untouched, tree.stat("/a").pzxid());
        assertEquals(8, tree.events().size());
        assertTrue(tree.events()
                .containsAll(List.of(
                        "DELETED /a/b/c/x",
                        "CHILDREN_CHANGED /a/b/c",
                        "DELETED /y",
                        "CHILDREN_CHANGED /",
                        "DELETED /a/b/z",
                        "CHILDREN_CHANGED /a/b")));
    }

    /** By what is allocated, since that is the same on a busy machine: one by one it is 32 MB. */
    @Test
    void theEndOfASessionCopiesWhatItChangesOnceAndNotOnceForEachEphemeral() {
        tree.request(2, create("/group"));
        for (int i = 0; i < 20_000; i++) {
            tree.request(1, create("/group/member-", ZnodeKind.EPHEMERAL_SEQUENTIAL));
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.CLIENT));
        long allocated = threads.getThreadAllocatedBytes(thread) - before;
        assertTrue(allocated < 6_000_000, allocated + " bytes were allocated");
        assertEquals(List.of(), tree.children("/group"));
        assertEquals(0, tree.state.ephemeralCount());
    }

    @Test
    void aSuspicionOfAFormerLeaderMarksNoSession() {
        tree.apply(new Change.NewTerm(4));
        tree.apply(new Change.NewTerm(5));
        Change late = new Change.SuspectSession(1, tree.attachment(1), 4);
        assertEquals(
                new Result.Failed(TreeError.SESSION_MOVED), tree.apply(late).result());
        assertFalse(tree.state.session(1).orElseThrow().isSuspected());
        tree.apply(new Change.SuspectSession(1, tree.attachment(1), 5));
        assertTrue(tree.state.session(1).orElseThrow().isSuspected());
    }

    @Test
    void anEphemeralThatWasDeletedIsNotDeletedAgain() {
        tree.request(1, create("/a", ZnodeKind.EPHEMERAL));
        tree.request(2, new TreeOperation.Delete("/a", -1));
        tree.request(2, create("/a"));
        tree.apply(new Change.CloseSession(1, Change.ANY_ATTACHMENT, Change.CloseReason.CLIENT));
        assertTrue(tree.state.znode("/a").isPresent());
    }

    @Test
    void aResumedSessionRefusesItsFormerConnection() {
        long before = tree.attachment(1);
        SessionRecord resumed = assertInstanceOf(
                        Result.SessionAttached.class,
                        tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 9_000))
                                .result())
                .session();
        assertEquals(tree.last.zxid(), resumed.attachment());
        assertEquals(9_000, resumed.timeoutMs());
        assertEquals(
                new Result.Failed(TreeError.SESSION_MOVED),
                tree.apply(new Change.Request(1, before, List.of(), create("/a")))
                        .result());
        assertEquals(
                new Result.Failed(TreeError.SESSION_MOVED),
                tree.apply(new Change.CloseSession(1, before, Change.CloseReason.CLIENT))
                        .result());
        assertInstanceOf(Result.Created.class, tree.request(1, create("/a")));
    }

    /** Its client may never hear of the shorter one, and holds its grants for as long as it was promised. */
    @Test
    void aResumeDoesNotShortenTheTimeout() {
        tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 90_000));
        tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 9_000));
        assertEquals(90_000, tree.state.session(1).orElseThrow().timeoutMs());
    }

    @Test
    void aSessionIsNotResumedWithoutItsPassword() {
        Result refused = new Result.Failed(TreeError.SESSION_EXPIRED);
        long before = tree.attachment(1);
        assertEquals(
                refused,
                tree.apply(new Change.ResumeSession(1, TreeTester.password(2), 9_000))
                        .result());
        assertEquals(
                refused,
                tree.apply(new Change.ResumeSession(77, TreeTester.password(1), 9_000))
                        .result());
        assertEquals(before, tree.attachment(1));
        assertFalse(tree.state.session(1).toString().contains("3"), "the password is not shown");
    }

    @Test
    void aSessionIdIsGivenOnce() {
        Result refused = new Result.Failed(TreeError.BAD_ARGUMENTS);
        for (long id : new long[] {1, 0, Long.MIN_VALUE}) {
            assertEquals(
                    refused,
                    tree.apply(new Change.OpenSession(id, TreeTester.password(9), 1_000))
                            .result());
        }
    }

    @Test
    void sessionFoundSilentEndsOnlyInTheTermOfTheLeaderThatFoundIt() {
        TreeTester tree = new TreeTester().open(1);
        tree.apply(new Change.NewTerm(5));
        tree.request(1, create("/e", ZnodeKind.EPHEMERAL));
        long suspicion = suspect(tree, 1);
        assertTrue(tree.state.session(1).orElseThrow().isSuspected());
        tree.apply(new Change.NewTerm(6));
        Result late = tree.apply(new Change.ExpireSession(1, suspicion, 5)).result();
        assertEquals(new Result.Failed(TreeError.SESSION_MOVED), late, "its leader is deposed");
        assertEquals(
                new Result.SessionClosed(1, Change.CloseReason.EXPIRED),
                tree.apply(new Change.ExpireSession(1, suspicion, 6)).result());
        assertEquals(List.of("DELETED /e", "CHILDREN_CHANGED /"), tree.events());
        assertEquals(
                new Result.Failed(TreeError.SESSION_EXPIRED),
                tree.apply(new Change.ExpireSession(1, suspicion, 6)).result());
    }

    @Test
    void anyRequestOfASuspectedSessionKeepsItAlive() {
        List<Consumer<TreeTester>> signs = List.of(
                tree -> tree.request(1, create("/a")),
                tree -> tree.request(1, new TreeOperation.Delete("/nothing", -1)),
                tree -> tree.request(1, new TreeOperation.Multi(List.of(new TreeOperation.Check("/nothing", 0)))),
                tree -> tree.apply(new Change.KeepSession(1, tree.attachment(1))),
                tree -> tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 100)));
        for (Consumer<TreeTester> sign : signs) {
            TreeTester tree = new TreeTester().open(1);
            long suspicion = suspect(tree, 1);
            sign.accept(tree);
            assertFalse(tree.state.session(1).orElseThrow().isSuspected());
            assertEquals(
                    new Result.Failed(TreeError.SESSION_MOVED),
                    tree.apply(new Change.ExpireSession(1, suspicion, 0)).result());
            long again = suspect(tree, 1);
            assertNotEquals(suspicion, again);
            assertEquals(
                    new Result.Failed(TreeError.SESSION_MOVED),
                    tree.apply(new Change.ExpireSession(1, suspicion, 0)).result(),
                    "an older finding");
        }
    }

    private static long suspect(TreeTester tree, long session) {
        Result marked = tree.apply(new Change.SuspectSession(session, tree.attachment(session), 0))
                .result();
        return ((Result.SessionSuspected) marked).suspicion();
    }

    @Test
    void onlyThePresentAttachmentIsFoundSilentOrKept() {
        TreeTester tree = new TreeTester().open(1);
        long before = tree.attachment(1);
        tree.apply(new Change.ResumeSession(1, TreeTester.password(1), 100));
        assertEquals(
                new Result.Failed(TreeError.SESSION_MOVED),
                tree.apply(new Change.SuspectSession(1, before, 0)).result());
        long suspicion = suspect(tree, 1);
        tree.apply(new Change.KeepSession(1, before));
        tree.apply(new Change.Request(1, before, List.of(), create("/a")));
        assertEquals(suspicion, tree.state.session(1).orElseThrow().suspicion());
        assertEquals(
                new Result.Failed(TreeError.SESSION_EXPIRED),
                tree.apply(new Change.SuspectSession(2, before, 0)).result());
    }
}
