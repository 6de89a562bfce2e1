package io.conclave.proofs.hostile;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.WatchRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

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
            connection.call(create(SUBTREE, new byte[0], AclRecord.OPEN));
            for (int part = 0; part < 10; part++) {
                List<RequestBody> creates = new ArrayList<>();
                for (int i = 0; i < 5_000; i++) {
                    creates.add(create(SUBTREE + "/" + part + "-" + i, new byte[0], AclRecord.OPEN));
                }
                connection.call(new RequestBody.Multi(OpCode.MULTI, creates));
            }
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
                    ? new RequestBody.Auth(
                            0, "digest", (number + "u".repeat(4000) + ":x").getBytes(StandardCharsets.UTF_8))
                    : create("/auth-" + id + number, new byte[0], AclRecord.OPEN);
        }
    },
    SMALL_CREATES {
        @Override
        RequestBody request(String id, int number) {
            return create("/small-" + id + number, new byte[10], AclRecord.OPEN);
        }
    },
    /** The last one, since nothing can be created behind it. */
    FILLED_STATE {
        @Override
        RequestBody request(String id, int number) {
            return create("/fill-" + id + number, new byte[100_000], AclRecord.OPEN);
        }
    };

    static final int LARGE = 900_000;
    static final String SUBTREE = "/subtree";

    /** The next request of a connection. */
    abstract RequestBody request(String id, int number);

    /** Once, before the connections begin. */
    void prepare(RawConnection connection) throws IOException {}

    static RequestBody create(String path, byte[] data, List<AclRecord> acl) {
        return new RequestBody.Create(OpCode.CREATE, path, data, acl, CreateFlag.PERSISTENT);
    }
}
