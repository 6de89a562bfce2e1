package io.conclave.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.Change;
import io.conclave.tree.PermissionBits;
import io.conclave.tree.SessionPassword;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TreeExportTest {
    private static final long SESSION = 0x1000001L;

    private TreeState state = TreeState.initial(new UUID(1, 2), 7);
    private long timeMs = 100;

    private void apply(Change change) {
        timeMs += 100;
        state = Tree.apply(state, change, timeMs).state();
    }

    private void create(String path, byte[] data, ZnodeAcl acl, ZnodeKind kind) {
        apply(new Change.Request(
                SESSION,
                state.session(SESSION).orElseThrow().attachment(),
                List.of(AuthId.ANYONE),
                new TreeOperation.Create(path, data, acl, kind, 0)));
    }

    private List<String> lines() throws IOException {
        StringBuilder out = new StringBuilder();
        long count = TreeExport.write(state, out);
        List<String> lines = out.toString().lines().toList();
        assertEquals(count, lines.size());
        return lines;
    }

    @Test
    void aLineHasAllThatIsKnownOfAZnode() throws IOException {
        apply(new Change.NewTerm(1));
        apply(new Change.OpenSession(SESSION, SessionPassword.of(new byte[SessionPassword.BYTES]), 5_000));
        ZnodeAcl mine = new ZnodeAcl(List.of(new AclEntry(
                PermissionBits.READ | PermissionBits.CREATE, new AuthId("digest", "bob:\u0007y\\z\ud83d\ude00"))));
        create("/b", new byte[] {0, 1, (byte) 0xff}, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT);
        create("/b/c\"\u00e9", null, mine, ZnodeKind.EPHEMERAL);
        create("/a", new byte[0], ZnodeAcl.OPEN, ZnodeKind.CONTAINER);
        List<String> lines = lines();
        assertEquals(
                List.of("/", "/a", "/b", "/b/c\\", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"),
                lines.stream().map(line -> line.split("\"")[3]).toList());
        String zxids = "\"czxid\":\"0x"
                + Long.toHexString(state.znode("/b").orElseThrow().czxid()) + "\",\"mzxid\":\"0x"
                + Long.toHexString(state.znode("/b").orElseThrow().mzxid()) + "\",\"pzxid\":\"0x"
                + Long.toHexString(state.znode("/b").orElseThrow().pzxid()) + "\"}";
        assertEquals(
                "{\"path\":\"/b\",\"kind\":\"persistent\",\"data\":\"AAH/\","
                        + "\"acl\":[{\"scheme\":\"world\",\"id\":\"anyone\","
                        + "\"permissions\":\"cdrwa\"}],\"version\":0,\"cversion\":1,\"aversion\":0,\"nextSequence\":1,"
                        + "\"ctimeMs\":400,\"mtimeMs\":400," + zxids,
                lines.get(2));
        assertEquals(
                "{\"path\":\"/b/c\\\"\u00e9\",\"kind\":\"ephemeral\",\"session\":\"0x1000001\",\"data\":null,"
                        + "\"acl\":[{\"scheme\":\"digest\",\"id\":\"bob:\\u0007y\\\\z\\ud83d\\ude00\","
                        + "\"permissions\":\"cr\"}]",
                lines.get(3).substring(0, lines.get(3).indexOf(",\"version\"")));
    }

    @Test
    void aVeryDeepTreeNeedsNoStack() throws IOException {
        apply(new Change.NewTerm(1));
        apply(new Change.OpenSession(SESSION, SessionPassword.of(new byte[SessionPassword.BYTES]), 5_000));
        StringBuilder path = new StringBuilder();
        for (int i = 0; i < 5_000; i++) {
            path.append("/d");
            create(path.toString(), null, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT);
        }
        assertEquals(5_000 + 4, lines().size());
    }
}
