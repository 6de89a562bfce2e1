package io.conclave.tree;

import static io.conclave.tree.TreeTester.create;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ZnodeAclTest {
    private static final AuthId ANN = new AuthId("digest", "ann:h1");
    private static final AuthId BOB = new AuthId("digest", "bob:h2");
    private static final AuthId HOST = new AuthId("ip", "10.1.2.3");

    private final TreeTester tree = new TreeTester().open(1);

    private static ZnodeAcl acl(int permissions, AuthId id) {
        return new ZnodeAcl(List.of(new AclEntry(permissions, id)));
    }

    private Result createAs(List<AuthId> ids, String path, ZnodeAcl acl) {
        return tree.request(1, ids, new TreeOperation.Create(path, null, acl, ZnodeKind.PERSISTENT));
    }

    private void assertRefused(TreeError error, Result result) {
        assertEquals(new Result.Failed(error), result);
    }

    @Test
    void authStandsForTheCallersProvenIds() {
        createAs(List.of(HOST, ANN, BOB), "/a", acl(PermissionBits.ALL, new AuthId("auth", "whatever")));
        assertEquals(
                new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, ANN), new AclEntry(PermissionBits.ALL, BOB))),
                tree.state.znode("/a").orElseThrow().acl());
        assertRefused(
                TreeError.INVALID_ACL, createAs(List.of(HOST), "/b", acl(PermissionBits.ALL, new AuthId("auth", ""))));
    }

    @Test
    void malformedListsAreRefused() {
        for (AuthId id : List.of(
                new AuthId("world", "somebody"),
                new AuthId("digest", "ann"),
                new AuthId("digest", "a:b:c"),
                new AuthId("digest", "ann:"),
                new AuthId("ip", "10.1.2"),
                new AuthId("ip", "10.1.2.256"),
                new AuthId("ip", "10.0.0.0/33"),
                new AuthId("sasl", ""),
                new AuthId("", ""))) {
            assertRefused(TreeError.INVALID_ACL, createAs(List.of(ANN), "/a", acl(PermissionBits.ALL, id)));
        }
    }

    @Test
    void duplicateEntriesAreStoredOnce() {
        AclEntry entry = new AclEntry(PermissionBits.READ, BOB);
        createAs(List.of(ANN), "/a", new ZnodeAcl(List.of(entry, entry)));
        assertEquals(
                acl(PermissionBits.READ, BOB),
                tree.state.znode("/a").orElseThrow().acl());
    }

    @Test
    void createAndDeleteAskTheParent() {
        createAs(List.of(ANN), "/a", acl(PermissionBits.ALL, ANN));
        assertRefused(TreeError.NO_AUTH, tree.request(1, List.of(BOB), create("/a/b")));
        assertInstanceOf(Result.Created.class, tree.request(1, List.of(ANN), create("/a/b")));
        assertRefused(TreeError.NO_AUTH, tree.request(1, List.of(BOB), new TreeOperation.Delete("/a/b", -1)));
        assertRefused(TreeError.NO_AUTH, tree.request(1, List.of(BOB), new TreeOperation.Delete("/a/none", -1)));
        assertInstanceOf(
                Result.Deleted.class, tree.request(1, List.of(AuthId.SUPER), new TreeOperation.Delete("/a/b", -1)));
        assertInstanceOf(Result.Deleted.class, tree.request(1, List.of(BOB), new TreeOperation.Delete("/a", -1)));
    }

    @Test
    void eachOperationNeedsItsOwnPermission() {
        createAs(List.of(), "/w", acl(PermissionBits.WRITE, AuthId.ANYONE));
        createAs(List.of(), "/r", acl(PermissionBits.READ, AuthId.ANYONE));
        createAs(List.of(), "/m", acl(PermissionBits.ADMIN, AuthId.ANYONE));
        assertInstanceOf(Result.DataSet.class, tree.request(1, new TreeOperation.SetData("/w", null, -1)));
        assertRefused(TreeError.NO_AUTH, tree.request(1, new TreeOperation.SetData("/r", null, -1)));
        assertRefused(TreeError.NO_AUTH, tree.request(1, new TreeOperation.SetAcl("/r", ZnodeAcl.OPEN, -1)));
        Result check = tree.request(1, new TreeOperation.Multi(List.of(new TreeOperation.Check("/w", -1))));
        assertEquals(new Result.MultiFailed(1, 0, TreeError.NO_AUTH), check);
        assertEquals(TreeError.NO_AUTH, readError("/w"));
        tree.stat("/r");
        assertInstanceOf(Result.AclSet.class, tree.request(1, new TreeOperation.SetAcl("/m", ZnodeAcl.OPEN, 0)));
        assertEquals(1, tree.stat("/m").aversion());
        assertEquals(List.of(), tree.events());
        assertRefused(TreeError.BAD_VERSION, tree.request(1, new TreeOperation.SetAcl("/m", ZnodeAcl.OPEN, 0)));
    }

    private TreeError readError(String path) {
        return assertThrows(TreeException.class, () -> TreeReads.exists(tree.state, path, List.of()))
                .error();
    }

    @Test
    void withoutAdminTheDigestsAreHidden() {
        ZnodeAcl acl = new ZnodeAcl(
                List.of(new AclEntry(PermissionBits.ALL, ANN), new AclEntry(PermissionBits.READ, AuthId.ANYONE)));
        createAs(List.of(ANN), "/a", acl);
        assertEquals(acl, TreeReads.acl(tree.state, "/a", List.of(ANN)).acl());
        assertEquals(
                new AuthId("digest", "ann:x"),
                TreeReads.acl(tree.state, "/a", List.of())
                        .acl()
                        .entries()
                        .get(0)
                        .id());
        createAs(List.of(ANN), "/b", acl(PermissionBits.ALL, ANN));
        assertThrows(TreeException.class, () -> TreeReads.acl(tree.state, "/b", List.of(BOB)));
    }

    private static boolean matches(String range, String address) {
        return requireNonNull(IpRange.of(range)).contains(requireNonNull(IpRange.address(address)));
    }

    @Test
    void addressesMatchByTheirLeadingBits() {
        assertTrue(matches("10.1.0.0/16", "10.1.2.3"));
        assertFalse(matches("10.1.0.0/16", "10.2.2.3"));
        assertTrue(matches("10.1.2.3", "10.1.2.3"));
        assertTrue(matches("0.0.0.0/0", "10.1.2.3"));
        assertFalse(matches("0.0.0.0/0", "::1"));
        assertTrue(matches("fe80::/10", "fe80::1:2"));
        assertTrue(matches("::1", "0:0:0:0:0:0:0:1"));
        assertTrue(IpRange.isValid("1:2:3:4:5:6:7::"));
        for (String bad : List.of(
                "",
                "1.2.3",
                "1.2.3.4/",
                ":::",
                "1:::2",
                "::::",
                "1::2:",
                ":1::2",
                "1.2.3.4/-1",
                "a.b.c.d",
                "1::2::3",
                "1:2",
                "12345::",
                "::/129")) {
            assertFalse(IpRange.isValid(bad), bad);
        }
    }

    @Test
    void equalListsAreSharedWithTheParent() {
        ZnodeAcl own = acl(PermissionBits.ALL, ANN);
        createAs(List.of(ANN), "/a", own);
        createAs(List.of(ANN), "/a/b", acl(PermissionBits.ALL, ANN));
        assertTrue(tree.state.znode("/a").orElseThrow().acl()
                == tree.state.znode("/a/b").orElseThrow().acl());
    }
}
