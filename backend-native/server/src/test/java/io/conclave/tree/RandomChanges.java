package io.conclave.tree;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Changes at random over few paths, sessions and versions, so that they meet each other all the time. */
final class RandomChanges {
    private static final String[] NAMES = {"a", "b", "c-"};
    private static final List<List<AuthId>> CALLERS = List.of(
            List.of(),
            List.of(new AuthId("digest", "ann:h")),
            List.of(new AuthId("ip", "10.0.0.1"), new AuthId("digest", "bob:h")),
            digests("eve", 6),
            List.of(AuthId.SUPER));
    private static final List<ZnodeAcl> ACLS = List.of(
            ZnodeAcl.OPEN,
            ZnodeAcl.OPEN,
            ZnodeAcl.OPEN,
            ZnodeAcl.OPEN,
            ZnodeAcl.READ_ONLY,
            new ZnodeAcl(List.of()),
            new ZnodeAcl(List.of(new AclEntry(PermissionBits.ALL, new AuthId("auth", "")))),
            new ZnodeAcl(List.of(
                    new AclEntry(PermissionBits.READ | PermissionBits.CREATE, new AuthId("digest", "ann:h")),
                    new AclEntry(PermissionBits.ALL, new AuthId("ip", "10.0.0.0/8")))),
            longAcl());

    private static final List<String> QUOTA_TEXTS = List.of(
            "count=5,bytes=8",
            "count=-1,bytes=-1=;byteHardLimit=8;countHardLimit=4",
            "count=3,bytes=-1=;countHardLimit=-1",
            "bytes=2;count=1",
            "count==3;bytes=7",
            "count==,bytes=7",
            "nonsense",
            "count=x",
            "");

    private final Random random;
    private final boolean withQuotas;

    private static List<AuthId> digests(String user, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> new AuthId("digest", user + i + ":h"))
                .toList();
    }

    /** Of so many entries that what it grants is remembered. */
    private static ZnodeAcl longAcl() {
        List<AclEntry> entries = new ArrayList<>();
        digests("mallory", 20).forEach(id -> entries.add(new AclEntry(PermissionBits.ALL, id)));
        entries.add(new AclEntry(PermissionBits.WRITE, new AuthId("digest", "eve3:h")));
        entries.add(new AclEntry(PermissionBits.READ | PermissionBits.DELETE, new AuthId("digest", "eve5:h")));
        entries.add(new AclEntry(PermissionBits.CREATE, new AuthId("ip", "10.0.0.0/8")));
        return new ZnodeAcl(entries);
    }

    /** Changes that touch the znodes of quotas as well. */
    RandomChanges(Random random) {
        this(random, true);
    }

    RandomChanges(Random random, boolean withQuotas) {
        this.random = random;
        this.withQuotas = withQuotas;
    }

    Change next(TreeState state) {
        long session = 1 + random.nextInt(4);
        return switch (random.nextInt(48)) {
            case 0, 1, 2 -> new Change.OpenSession(session, password(), 1 + random.nextInt(1000));
            case 3 -> new Change.ResumeSession(session, password(), 1 + random.nextInt(1000));
            case 4 ->
                new Change.CloseSession(
                        session, random.nextBoolean() ? 0 : attachment(state, session), Change.CloseReason.OPERATOR);
            case 40, 41, 42, 43 ->
                new Change.SuspectSession(
                        session,
                        attachment(state, session),
                        random.nextInt(4) == 0 ? state.term() + random.nextInt(2) : 0);
            case 44, 45, 46 ->
                new Change.ExpireSession(
                        session,
                        state.session(session).map(SessionRecord::suspicion).orElse(5L),
                        random.nextInt(4) == 0 ? state.term() + 1 : state.term());
            case 47 -> new Change.KeepSession(session, attachment(state, session));
            case 5 -> new Change.DeleteContainer(path());
            case 6 -> new Change.DeleteContainer(path(), random.nextInt(30));
            case 7 -> random.nextInt(10) == 0 ? new Change.NewTerm(random.nextInt(100)) : request(state, session);
            case 8 -> new Change.RaiseFeatureLevel(random.nextInt(6));
            default -> request(state, session);
        };
    }

    private Change request(TreeState state, long session) {
        List<AuthId> callers = CALLERS.get(random.nextInt(CALLERS.size()));
        return new Change.Request(session, attachment(state, session), callers, operation(), random.nextBoolean());
    }

    private TreeOperation operation() {
        if (random.nextInt(5) > 0) {
            return single(false);
        }
        List<TreeOperation> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            parts.add(single(true));
        }
        return new TreeOperation.Multi(parts);
    }

    private TreeOperation single(boolean inMulti) {
        int version = random.nextInt(4) - 1;
        return switch (random.nextInt(inMulti ? 12 : 11)) {
            case 0, 1, 2, 3, 4 -> create();
            case 5, 6, 7 -> new TreeOperation.Delete(path(), Math.min(version, 0));
            case 8, 9 -> setData(version);
            case 10 -> new TreeOperation.SetAcl(path(), acl(), version);
            default -> new TreeOperation.Check(path(), version);
        };
    }

    private TreeOperation create() {
        ZnodeKind mode = ZnodeKind.values()[random.nextInt(ZnodeKind.values().length)];
        String path = path();
        return new TreeOperation.Create(path, data(path), acl(), mode, mode.hasTtl() ? 1 + random.nextInt(30) : 0);
    }

    private TreeOperation setData(int version) {
        String path = path();
        return new TreeOperation.SetData(path, data(path), version);
    }

    private String path() {
        if (withQuotas && random.nextInt(5) == 0) {
            return "/zookeeper/quota" + List.of("/a", "/b", "/a/b", "").get(random.nextInt(4))
                    + List.of("", "/zookeeper_limits", "/zookeeper_stats").get(random.nextInt(3));
        }
        if (random.nextInt(40) == 0) {
            return List.of("", "/", "/a/", "//a", "/./a", "x", "/zookeeper", "/a\u0001", "/\u20ac")
                    .get(random.nextInt(9));
        }
        StringBuilder path = new StringBuilder();
        for (int depth = random.nextInt(3); depth >= 0; depth--) {
            path.append('/').append(NAMES[random.nextInt(NAMES.length)]);
        }
        return random.nextInt(6) == 0 ? path.append("0000000000").toString() : path.toString();
    }

    private byte[] data(String path) {
        if (path.contains("/zookeeper_")) {
            return QUOTA_TEXTS.get(random.nextInt(QUOTA_TEXTS.size())).getBytes(StandardCharsets.UTF_8);
        }
        return random.nextInt(8) == 0 ? null : new byte[random.nextInt(5)];
    }

    private ZnodeAcl acl() {
        return ACLS.get(random.nextInt(ACLS.size()));
    }

    private SessionPassword password() {
        return TreeTester.password(random.nextInt(8) == 0 ? 2 : 1);
    }

    private long attachment(TreeState state, long session) {
        return state.session(session)
                .map(record -> random.nextInt(30) == 0 ? record.attachment() - 1 : record.attachment())
                .orElse(1L);
    }
}
