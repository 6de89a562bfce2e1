package io.conclave.proofs.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.interop.ApacheZooKeeper;
import io.conclave.proofs.interop.StandaloneConclave;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.SyncRequest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Requests at the edges of the protocol, which no client library sends: cut off, null, of unknown types and modes. Our
 * server and Apache ZooKeeper must answer them alike. Each is sent on a session of its own, with a sync behind it, so
 * that a connection that is closed shows.
 */
@Tag("proof")
class EdgeDifferentialTest {
    private static final long LONG_MS = 36_000_000;
    private static final long NEVER = Long.MAX_VALUE;
    private static final int ANY_WATCH = 3;

    private static StandaloneConclave conclave;
    private static ApacheZooKeeper zooKeeper;

    private final List<String> differences = new ArrayList<>();
    private int nodes;

    @BeforeAll
    static void start() {
        conclave = new StandaloneConclave(LONG_MS);
        zooKeeper = new ApacheZooKeeper();
    }

    @AfterAll
    static void stop() {
        conclave.close();
        zooKeeper.close();
    }

    /** A request of a case, without its number. */
    private record Sent(int type, RawBody body) {}

    private void same(String name, Sent... requests) throws IOException {
        List<String> ours = answers(conclave.port(), requests);
        List<String> theirs = answers(zooKeeper.port(), requests);
        if (!ours.equals(theirs)) {
            differences.add(name + "\n  ours:   " + ours + "\n  theirs: " + theirs);
        }
    }

    private static List<String> answers(int port, Sent... requests) throws IOException {
        Subject subject = new Subject(port, 1);
        try {
            List<RandomOperations.Request> sent = new ArrayList<>();
            for (Sent request : requests) {
                sent.add(new RandomOperations.Request(sent.size() + 1, request.type(), names -> request.body()));
            }
            sent.add(new RandomOperations.Request(sent.size() + 1, OpCode.sync, names -> new SyncRequest("/")));
            return subject.exchange(0, sent);
        } finally {
            subject.drop();
        }
    }

    private void assertNoDifference() {
        assertTrue(differences.isEmpty(), () -> differences.size() + " differ:\n" + String.join("\n", differences));
    }

    /** A path that no other case uses, the same on both servers. */
    private String newPath() {
        return "/" + getClass().getSimpleName() + System.identityHashCode(this) + "-" + nodes++;
    }

    private static RawBody create(String path, int flags) {
        return RawBody.path(path).number(0).open().number(flags);
    }

    private static RawBody read(String path) {
        return RawBody.path(path).flag(false);
    }

    private static RawBody watches(int lists) {
        RawBody body = RawBody.EMPTY.large(0);
        for (int i = 0; i < lists; i++) {
            body = body.number(1).string("/absent");
        }
        return body;
    }

    private static Map<Integer, RawBody> wholeBodies() {
        Map<Integer, RawBody> bodies = new LinkedHashMap<>();
        bodies.put(OpCode.create, create("/zookeeper", 0));
        bodies.put(OpCode.create2, create("/zookeeper", 0));
        bodies.put(OpCode.createContainer, create("/zookeeper", 4));
        bodies.put(OpCode.createTTL, create("/zookeeper", 5).large(LONG_MS));
        bodies.put(OpCode.delete, RawBody.path("/absent").number(-1));
        bodies.put(OpCode.setData, RawBody.path("/absent").number(0).number(-1));
        bodies.put(OpCode.setACL, RawBody.path("/absent").open().number(-1));
        bodies.put(OpCode.exists, read("/absent"));
        bodies.put(OpCode.getData, read("/absent"));
        bodies.put(OpCode.getChildren, read("/absent"));
        bodies.put(OpCode.getChildren2, read("/absent"));
        bodies.put(OpCode.getACL, RawBody.path("/absent"));
        bodies.put(OpCode.getEphemerals, RawBody.path("/absent"));
        bodies.put(OpCode.getAllChildrenNumber, RawBody.path("/absent"));
        bodies.put(OpCode.sync, RawBody.path("/absent"));
        bodies.put(OpCode.addWatch, RawBody.path("/absent").number(0));
        bodies.put(OpCode.checkWatches, RawBody.path("/absent").number(ANY_WATCH));
        bodies.put(OpCode.removeWatches, RawBody.path("/absent").number(ANY_WATCH));
        bodies.put(OpCode.setWatches, watches(3));
        bodies.put(OpCode.setWatches2, watches(5));
        bodies.put(
                OpCode.multi,
                RawBody.EMPTY.part(OpCode.check).string("/absent").number(-1).end());
        bodies.put(
                OpCode.multiRead,
                RawBody.EMPTY.part(OpCode.getData).then(read("/absent")).end());
        return bodies;
    }

    @Test
    void aBodyThatIsCutOff() throws IOException {
        for (Map.Entry<Integer, RawBody> whole : wholeBodies().entrySet()) {
            RawBody body = whole.getValue();
            int step = Math.max(1, body.length() / 6);
            for (int length = 0; length < body.length(); length += step) {
                same("type " + whole.getKey() + " cut at " + length, new Sent(whole.getKey(), body.cut(length)));
            }
            same("type " + whole.getKey() + " whole", new Sent(whole.getKey(), body));
            same("type " + whole.getKey() + " and more", new Sent(whole.getKey(), body.large(-1)));
        }
        assertNoDifference();
    }

    @Test
    void aPathThatIsLongerThanItsFrame() throws IOException {
        List<Integer> withoutPath = List.of(OpCode.setWatches, OpCode.setWatches2, OpCode.multi, OpCode.multiRead);
        for (int type : wholeBodies().keySet()) {
            for (int length :
                    withoutPath.contains(type) ? List.<Integer>of() : List.of(17, 20_000, Integer.MAX_VALUE)) {
                same(
                        "type " + type + " with a path of " + length,
                        new Sent(type, RawBody.EMPTY.number(length).large(0).large(0)));
            }
        }
        assertNoDifference();
    }

    @Test
    void aPathThatIsNull() throws IOException {
        RawBody none = RawBody.noPath();
        for (int type : List.of(OpCode.create, OpCode.create2)) {
            same("type " + type, new Sent(type, none.number(0).open().number(0)));
        }
        same(
                "createContainer",
                new Sent(OpCode.createContainer, none.number(0).open().number(4)));
        same(
                "createTTL",
                new Sent(OpCode.createTTL, none.number(0).open().number(5).large(LONG_MS)));
        same("delete", new Sent(OpCode.delete, none.number(-1)));
        same("setData", new Sent(OpCode.setData, none.number(0).number(-1)));
        same("setACL", new Sent(OpCode.setACL, none.open().number(-1)));
        for (int type : List.of(OpCode.exists, OpCode.getData, OpCode.getChildren, OpCode.getChildren2)) {
            same("type " + type, new Sent(type, none.flag(true)));
        }
        same("getACL", new Sent(OpCode.getACL, none));
        same("getEphemerals", new Sent(OpCode.getEphemerals, none));
        for (int type : List.of(OpCode.addWatch, OpCode.checkWatches, OpCode.removeWatches)) {
            same("type " + type, new Sent(type, none.number(1)));
        }
        same(
                "setWatches",
                new Sent(OpCode.setWatches, RawBody.EMPTY.large(0).number(1).then(none)));
        assertNoDifference();
    }

    @Test
    void aTypeThatIsUnknown() throws IOException {
        for (int type :
                List.of(10, 13, 23, 24, 99, 108, 111, 1000, -1, -2, -12, Integer.MAX_VALUE, Integer.MIN_VALUE)) {
            assertEquals(error(zooKeeper.port(), type), error(conclave.port(), type), () -> "type " + type);
        }
    }

    /** The error of an answer whose zxid does not matter; whether requests behind it are still read is a race there. */
    private static int error(int port, int type) throws IOException {
        RawSession session = new RawSession(port);
        try {
            session.write(RawSession.frame(1, type, RawSession.bytesOf(read("/"))));
            DataInputStream answer = session.readFrame().orElseThrow();
            answer.skipBytes(Integer.BYTES + Long.BYTES);
            return answer.readInt();
        } finally {
            session.drop();
        }
    }

    @Test
    void modesAndTypesOfWatches() throws IOException {
        for (int number : List.of(-1, 0, 1, 2, 3, 4, 5, 6, 99)) {
            String path = newPath();
            same("mode " + number, new Sent(OpCode.addWatch, RawBody.path(path).number(number)));
            for (int mode : List.of(0, 1)) {
                same(
                        "type " + number + " of mode " + mode,
                        new Sent(OpCode.addWatch, RawBody.path(path).number(mode)),
                        new Sent(OpCode.exists, RawBody.path(path).flag(true)),
                        new Sent(OpCode.checkWatches, RawBody.path(path).number(number)),
                        new Sent(OpCode.removeWatches, RawBody.path(path).number(number)),
                        new Sent(OpCode.removeWatches, RawBody.path(path).number(number)),
                        new Sent(OpCode.checkWatches, RawBody.path(path).number(ANY_WATCH)));
            }
        }
        assertNoDifference();
    }

    @Test
    void flagsOfACreateContainer() throws IOException {
        for (int flags : List.of(0, 4)) {
            String path = newPath();
            same(
                    "flags " + flags,
                    new Sent(OpCode.createContainer, create(path, flags)),
                    new Sent(OpCode.create, create(path + "/child", 0)),
                    new Sent(OpCode.getEphemerals, RawBody.path(path)));
        }
        for (int flags : List.of(1, 5, 6, 7, -1)) {
            same("flags " + flags, new Sent(OpCode.createContainer, create(newPath(), flags)));
        }
        assertNoDifference();
    }

    @Test
    void partsThatNoMultiHas() throws IOException {
        for (int type : List.of(0, OpCode.exists, OpCode.sync, OpCode.setACL, OpCode.multi, OpCode.reconfig, 99)) {
            RawBody body = RawBody.EMPTY.part(type).then(read("/")).end();
            same("multi of " + type, new Sent(OpCode.multi, body));
            same("multiRead of " + type, new Sent(OpCode.multiRead, body));
        }
        same("an empty multi", new Sent(OpCode.multi, RawBody.EMPTY.end()));
        same("an empty multiRead", new Sent(OpCode.multiRead, RawBody.EMPTY.end()));
        assertNoDifference();
    }

    @Test
    void entriesOfAnAcl() throws IOException {
        for (String ip : List.of(
                "127.0.0.1/32",
                "127.0.0.1/0",
                "127.0.0.1/33",
                "127.0.0.1/-1",
                "127.0.0.1/",
                "127.0.0.1/8/",
                "127.0.0",
                "127.0.0.256",
                "127.1",
                "127.0.0.01",
                "localhost",
                "::1",
                "fe80::/10",
                "::ffff:127.0.0.1",
                "")) {
            acl("ip", ip);
        }
        for (String digest : List.of("", ":", "bob", "bob:", ":x", "a:b:c")) {
            acl("digest", digest);
        }
        acl("world", "");
        acl("WORLD", "anyone");
        acl("super", "x");
        acl("", "");
        assertNoDifference();
    }

    private void acl(String scheme, String id) throws IOException {
        for (int rights : List.of(-1, 0, 31, 32)) {
            String path = newPath();
            same(
                    scheme + ":" + id + " with " + rights,
                    new Sent(
                            OpCode.create2,
                            RawBody.path(path).number(0).acl(rights, scheme, id).number(0)),
                    new Sent(OpCode.getACL, RawBody.path(path)),
                    new Sent(OpCode.getData, read(path)));
        }
    }

    @Test
    void watchesOfAClientThatHasSeenEverythingOrNothing() throws IOException {
        String path = newPath();
        for (long seen : List.of(0L, -1L, NEVER, Long.MIN_VALUE)) {
            RawBody list = RawBody.EMPTY.number(2).string(path).string("/absent");
            same(
                    "seen " + seen,
                    new Sent(OpCode.create, create(path, 1)),
                    new Sent(
                            OpCode.setWatches2,
                            RawBody.EMPTY
                                    .large(seen)
                                    .then(list)
                                    .then(list)
                                    .then(list)
                                    .then(list)
                                    .then(list)),
                    new Sent(OpCode.setData, RawBody.path(path).number(0).number(-1)),
                    new Sent(OpCode.delete, RawBody.path(path).number(-1)));
        }
        assertNoDifference();
    }

    @Test
    void thePingHasOneNumber() throws IOException {
        assertEquals(pong(zooKeeper.port()), pong(conclave.port()));
    }

    private static int pong(int port) throws IOException {
        RawSession session = new RawSession(port);
        try {
            session.write(RawSession.frame(7, OpCode.ping, new byte[0]));
            return session.readFrame().orElseThrow().readInt();
        } finally {
            session.drop();
        }
    }
}
