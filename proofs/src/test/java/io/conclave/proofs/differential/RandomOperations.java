package io.conclave.proofs.differential;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.jute.Record;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.proto.AddWatchRequest;
import org.apache.zookeeper.proto.AuthPacket;
import org.apache.zookeeper.proto.CheckWatchesRequest;
import org.apache.zookeeper.proto.CreateRequest;
import org.apache.zookeeper.proto.CreateTTLRequest;
import org.apache.zookeeper.proto.DeleteRequest;
import org.apache.zookeeper.proto.ExistsRequest;
import org.apache.zookeeper.proto.GetACLRequest;
import org.apache.zookeeper.proto.GetAllChildrenNumberRequest;
import org.apache.zookeeper.proto.GetChildren2Request;
import org.apache.zookeeper.proto.GetChildrenRequest;
import org.apache.zookeeper.proto.GetDataRequest;
import org.apache.zookeeper.proto.GetEphemeralsRequest;
import org.apache.zookeeper.proto.RemoveWatchesRequest;
import org.apache.zookeeper.proto.SetACLRequest;
import org.apache.zookeeper.proto.SetDataRequest;
import org.apache.zookeeper.proto.SetWatches;
import org.apache.zookeeper.proto.SetWatches2;
import org.apache.zookeeper.proto.SyncRequest;

/** Draws requests, on few names, so that they meet. */
final class RandomOperations {
    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final List<String> BAD_PATHS = List.of(
            "",
            "a",
            "/",
            "/zookeeper",
            "/zookeeper/quota",
            "%/",
            "%//a",
            "%/.",
            "%/../a",
            "%/a/./b",
            "%/\u0000",
            "%/a\u0001",
            "%/\u007f",
            "%/\ue000",
            "%/\uffff",
            "%/a/");
    private static final List<List<ACL>> ACLS = List.of(
            List.of(new ACL(1, new Id("world", "anyone"))),
            List.of(new ACL(31, new Id("auth", ""))),
            List.of(new ACL(31, new Id("digest", "bob:FBiBdM2ZtAhzsPcRSCTGLqCy/00="))),
            List.of(new ACL(31, new Id("ip", "127.0.0.1"))),
            List.of(new ACL(31, new Id("ip", "10.0.0.0/8")), new ACL(3, new Id("world", "anyone"))),
            List.of(new ACL(15, new Id("world", "anyone"))),
            List.of(new ACL(16, new Id("world", "anyone")), new ACL(1, new Id("auth", "ignored"))),
            List.of(),
            List.of(new ACL(31, new Id("nonsense", "x"))),
            List.of(new ACL(31, new Id("world", "someone"))),
            List.of(new ACL(31, new Id("digest", "nocolon"))),
            List.of(new ACL(31, new Id("ip", "127.0.0.1/99"))),
            List.of(new ACL(0, new Id("world", "anyone"))),
            List.of(new ACL(31, new Id("world", "anyone")), new ACL(31, new Id("world", "anyone"))));
    private static final List<ACL> OPEN = List.of(new ACL(31, new Id("world", "anyone")));

    /** Nothing outlives it in a test. */
    private static final long LONG_TTL_MS = 36_000_000;

    /** On both sides of the bounds. */
    private static final List<Long> TTLS =
            List.of(Long.MIN_VALUE, -1L, 0L, LONG_TTL_MS, (1L << 40) - 1, 1L << 40, Long.MAX_VALUE);

    private final Random random;
    private String base = "";

    RandomOperations(Random random) {
        this.random = random;
    }

    /** One request; the body may have to name a zxid, which each server calls its own way. */
    record Request(int xid, int type, Body body) {
        byte[] frame(Names names) {
            try {
                return RawSession.frame(xid, type, RawSession.bytesOf(body.in(names)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String toString() {
            return "xid=" + xid + " type=" + type + " " + text(body.in(new Names()));
        }
    }

    private static String text(Record body) {
        if (!(body instanceof MultiOperationRecord multi)) {
            return body.toString().strip();
        }
        StringBuilder parts = new StringBuilder();
        for (Op part : multi) {
            parts.append(part.getType())
                    .append(' ')
                    .append(text(part.toRequestRecord()))
                    .append("; ");
        }
        return parts.toString();
    }

    interface Body {
        Record in(Names names);
    }

    /** From now on works under another node, for in time many nodes can be deleted by no session. */
    Request moveTo(String newBase, int xid) {
        base = newBase;
        return new Request(xid, OpCode.create, names -> new CreateRequest(newBase, new byte[0], OPEN, 0));
    }

    Request next(int xid) {
        int dice = random.nextInt(100);
        if (dice < 25) {
            return create(xid);
        } else if (dice < 33) {
            String path = pathBelow();
            int version = version();
            return new Request(xid, OpCode.delete, names -> new DeleteRequest(path, version));
        } else if (dice < 43) {
            String path = path();
            byte[] data = data();
            int version = version();
            return new Request(xid, OpCode.setData, names -> new SetDataRequest(path, data, version));
        } else if (dice < 75) {
            return read(xid);
        } else if (dice < 82) {
            MultiOperationRecord multi = multi();
            return new Request(xid, OpCode.multi, names -> multi);
        } else if (dice < 85) {
            MultiOperationRecord multi = multiRead();
            return new Request(xid, OpCode.multiRead, names -> multi);
        } else if (dice < 88) {
            String path = pathBelow();
            List<ACL> acl = acl();
            int version = version();
            return new Request(xid, OpCode.setACL, names -> new SetACLRequest(path, acl, version));
        }
        return watch(xid, dice);
    }

    private Request create(int xid) {
        String path = path();
        byte[] data = data();
        List<ACL> acl = acl();
        int flags = random.nextInt(40) == 0 ? random.nextInt(10) - 1 : random.nextInt(4);
        int type = random.nextInt(3) == 0 ? OpCode.create2 : OpCode.create;
        if (random.nextInt(12) == 0) {
            return new Request(xid, OpCode.createContainer, names -> new CreateRequest(path, data, acl, 4));
        }
        if (random.nextInt(12) == 0) {
            int mode = random.nextInt(10) == 0 ? random.nextInt(10) - 1 : 5 + random.nextInt(2);
            long drawn = random.nextInt(4) == 0 ? TTLS.get(random.nextInt(TTLS.size())) : LONG_TTL_MS;
            // A mode without a time to live and a negative one stop ZooKeeper 3.9: it logs what it then cannot apply.
            long ttlMs = mode < 5 ? Math.max(0, drawn) : drawn;
            return new Request(xid, OpCode.createTTL, names -> new CreateTTLRequest(path, data, acl, mode, ttlMs));
        }
        return new Request(xid, type, names -> new CreateRequest(path, data, acl, flags));
    }

    private Request read(int xid) {
        String path = path();
        boolean watch = random.nextInt(3) == 0;
        return switch (random.nextInt(10)) {
            case 0, 1 -> new Request(xid, OpCode.exists, names -> new ExistsRequest(path, watch));
            case 2, 3 -> new Request(xid, OpCode.getData, names -> new GetDataRequest(path, watch));
            case 4 -> new Request(xid, OpCode.getChildren, names -> new GetChildrenRequest(path, watch));
            case 5 -> new Request(xid, OpCode.getChildren2, names -> new GetChildren2Request(path, watch));
            case 6 -> new Request(xid, OpCode.getACL, names -> new GetACLRequest(path));
            case 7 -> {
                // in theirs "" is another name of the root in reads, but counts one node more
                String counted = path.isEmpty() ? "/" : path;
                yield new Request(xid, OpCode.getAllChildrenNumber, names -> new GetAllChildrenNumberRequest(counted));
            }
            case 8 -> new Request(xid, OpCode.getEphemerals, names -> new GetEphemeralsRequest(path));
            default ->
                random.nextInt(4) == 0
                        ? new Request(xid, OpCode.whoAmI, names -> new SyncRequest(path))
                        : new Request(xid, OpCode.sync, names -> new SyncRequest(path));
        };
    }

    private Request watch(int xid, int dice) {
        String path = path();
        int type = random.nextInt(6);
        if (dice < 92) {
            int mode = random.nextInt(20) == 0 ? 2 : random.nextInt(2);
            return new Request(xid, OpCode.addWatch, names -> new AddWatchRequest(path, mode));
        } else if (dice < 95) {
            return new Request(xid, OpCode.removeWatches, names -> new RemoveWatchesRequest(path, type));
        } else if (dice < 97) {
            return new Request(xid, OpCode.checkWatches, names -> new CheckWatchesRequest(path, type));
        } else if (dice == 97) {
            return new Request(-4, OpCode.auth, names -> new AuthPacket(0, "digest", bytes("bob:pw")));
        }
        int ago = random.nextInt(20);
        List<List<String>> paths = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            paths.add(random.nextInt(3) == 0 ? List.of(node(), node()) : List.of(node()));
        }
        return dice == 98
                ? new Request(
                        -8,
                        OpCode.setWatches,
                        names -> new SetWatches(names.ago(ago), paths.get(0), paths.get(1), paths.get(2)))
                : new Request(
                        -8,
                        OpCode.setWatches2,
                        names -> new SetWatches2(
                                names.ago(ago), paths.get(0), paths.get(1), paths.get(2), paths.get(3), paths.get(4)));
    }

    private MultiOperationRecord multi() {
        MultiOperationRecord multi = new MultiOperationRecord();
        int count = random.nextInt(5);
        for (int i = 0; i < count; i++) {
            multi.add(
                    switch (random.nextInt(5)) {
                        case 0, 1 -> Op.create(path(), data(), acl(), random.nextInt(7), LONG_TTL_MS);
                        case 2 -> Op.delete(pathBelow(), version());
                        case 3 -> Op.setData(path(), data(), version());
                        default -> Op.check(path(), version());
                    });
        }
        return multi;
    }

    private MultiOperationRecord multiRead() {
        MultiOperationRecord multi = new MultiOperationRecord();
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            multi.add(random.nextBoolean() ? Op.getData(path()) : Op.getChildren(path()));
        }
        return multi;
    }

    private String path() {
        if (random.nextInt(25) == 0) {
            return BAD_PATHS.get(random.nextInt(BAD_PATHS.size())).replace("%", base);
        }
        return node();
    }

    private String pathBelow() {
        String path = path();
        return path.equals(base) || path.equals("/") ? base + "/a" : path;
    }

    /** Seldom the base itself, under which everything happens; and it is never lost. */
    private String node() {
        int depth = random.nextInt(20) == 0 ? 0 : 1 + Math.min(random.nextInt(3), random.nextInt(3));
        StringBuilder path = new StringBuilder(base);
        for (int i = 0; i < depth; i++) {
            path.append('/').append(NAMES.get(random.nextInt(NAMES.size())));
        }
        if (depth > 0 && random.nextInt(20) == 0) {
            path.append(String.format("%010d", random.nextInt(4)));
        }
        return path.toString();
    }

    private int version() {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextInt(3);
            case 1 -> random.nextInt(8) == 0 ? -2 : 0;
            default -> -1;
        };
    }

    private byte[] data() {
        return random.nextInt(10) == 0 ? null : bytes("x".repeat(random.nextInt(4)));
    }

    private List<ACL> acl() {
        return random.nextInt(8) == 0 ? ACLS.get(random.nextInt(ACLS.size())) : OPEN;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
