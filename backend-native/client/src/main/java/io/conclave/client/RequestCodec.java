package io.conclave.client;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.Acl;
import io.conclave.node.Bytes;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.node.Permission;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.Frames;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.StatRecord;
import io.conclave.protocol.WatchMode;
import io.conclave.protocol.WatchRequest;
import io.conclave.request.AddWatch;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Done;
import io.conclave.request.Exists;
import io.conclave.request.GetAcl;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.request.Sync;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Requests of the SPI as the wire's records, and the wire's answers as the SPI's. Without state. */
final class RequestCodec {
    /** What a server takes as one frame: ZooKeeper's default {@code jute.maxbuffer}. */
    static final int MAX_REQUEST_BYTES = Frames.DEFAULT_MAX_PAYLOAD_BYTES;

    private final List<AclRecord> defaultAcl;

    RequestCodec(Acl defaultAcl) {
        this.defaultAcl = aclRecords(defaultAcl);
    }

    /**
     * The request as a record.
     *
     * @throws RefusedException if it is larger than a server would take
     */
    RequestBody encode(Request<?> request) {
        if (request instanceof Operation<?> operation) {
            checkSize(request, dataBytes(operation));
            return operation(operation);
        }
        if (request instanceof GetData get) {
            return new RequestBody.GetData(get.path().toString(), get.watcher().isPresent());
        }
        if (request instanceof GetChildren get) {
            return new RequestBody.GetChildren(
                    OpCode.GET_CHILDREN2, get.path().toString(), get.watcher().isPresent());
        }
        if (request instanceof Exists exists) {
            return new RequestBody.Exists(
                    exists.path().toString(), exists.watcher().isPresent());
        }
        if (request instanceof Multi multi) {
            checkSize(
                    request,
                    multi.operations().stream()
                            .mapToLong(RequestCodec::dataBytes)
                            .sum());
            List<RequestBody> operations = new ArrayList<>(multi.operations().size());
            multi.operations().forEach(operation -> operations.add(operation(operation)));
            return new RequestBody.Multi(OpCode.MULTI, operations);
        }
        if (request instanceof GetAcl get) {
            return new RequestBody.GetAcl(get.path().toString());
        }
        if (request instanceof SetAcl set) {
            return new RequestBody.SetAcl(set.path().toString(), aclRecords(set.acl()), set.aclVersion());
        }
        if (request instanceof Sync sync) {
            return new RequestBody.Sync(sync.path().toString());
        }
        if (request instanceof AddWatch add) {
            WatchMode mode = add.recursive() ? WatchMode.PERSISTENT_RECURSIVE : WatchMode.PERSISTENT;
            return new WatchRequest.AddWatch(add.path().toString(), mode.code());
        }
        throw new IllegalArgumentException("No wire form: " + request.describe());
    }

    private RequestBody operation(Operation<?> operation) {
        String path = operation.path().toString();
        if (operation instanceof Create create) {
            List<AclRecord> acl = create.acl().map(RequestCodec::aclRecords).orElse(defaultAcl);
            int flags = flag(create.mode()).code();
            return new RequestBody.Create(
                    opCode(create.mode()), path, create.bytes().lend(), acl, flags, create.ttlMs());
        }
        if (operation instanceof Delete delete) {
            return new RequestBody.Delete(path, delete.version());
        }
        if (operation instanceof SetData set) {
            return new RequestBody.SetData(path, set.bytes().lend(), set.version());
        }
        return new RequestBody.CheckVersion(path, ((Check) operation).version());
    }

    private static long dataBytes(Operation<?> operation) {
        if (operation instanceof Create create) {
            return create.bytes().size();
        }
        return operation instanceof SetData set ? set.bytes().size() : 0;
    }

    /** Refuses by name what a server would answer by closing the connection, and before the bytes are copied. */
    private static void checkSize(Request<?> request, long bytes) {
        if (bytes > MAX_REQUEST_BYTES) {
            throw new RefusedException(RefusalReason.BAD_ARGUMENTS, tooLarge(request, bytes));
        }
    }

    /** The message about a request that is larger than a frame may be. */
    static String tooLarge(Request<?> request, long bytes) {
        return request.describe() + ": " + bytes + " bytes are more than the " + MAX_REQUEST_BYTES
                + " that a request may have, paths and header included";
    }

    private static OpCode opCode(CreateMode mode) {
        if (mode.hasTtl()) {
            return OpCode.CREATE_TTL;
        }
        return mode == CreateMode.CONTAINER ? OpCode.CREATE_CONTAINER : OpCode.CREATE2;
    }

    private static CreateFlag flag(CreateMode mode) {
        return switch (mode) {
            case PERSISTENT -> CreateFlag.PERSISTENT;
            case PERSISTENT_SEQUENTIAL -> CreateFlag.PERSISTENT_SEQUENTIAL;
            case EPHEMERAL -> CreateFlag.EPHEMERAL;
            case EPHEMERAL_SEQUENTIAL -> CreateFlag.EPHEMERAL_SEQUENTIAL;
            case CONTAINER -> CreateFlag.CONTAINER;
            case PERSISTENT_WITH_TTL -> CreateFlag.TTL;
            case PERSISTENT_SEQUENTIAL_WITH_TTL -> CreateFlag.TTL_SEQUENTIAL;
        };
    }

    /**
     * The answer to a request, from a reply without an error in its header.
     *
     * @throws RefusedException if the body of a multi or of addWatch carries the error
     * @throws IllegalArgumentException if no server answers the request so
     */
    @SuppressWarnings("unchecked")
    static <R> R decode(Request<R> request, ReplyBody body) {
        return (R) answer(request, body);
    }

    private static Object answer(Request<?> request, ReplyBody body) {
        if (body instanceof ReplyBody.Create2 reply && request instanceof Create create) {
            return new Create.Created(createdPath(create, reply), stat(reply.stat()));
        }
        if (body instanceof ReplyBody.Stat reply) {
            NodeStat stat = stat(reply.stat());
            return request instanceof Exists ? Optional.of(stat) : stat;
        }
        if (body instanceof ReplyBody.GetData reply) {
            byte[] data = reply.data();
            return new GetData.NodeData(data == null ? Bytes.empty() : Bytes.adopt(data), stat(reply.stat()));
        }
        if (body instanceof ReplyBody.GetChildren2 reply) {
            return new GetChildren.Children(reply.children(), stat(reply.stat()));
        }
        if (body instanceof ReplyBody.GetAcl reply) {
            return new GetAcl.NodeAcl(acl(reply.acl()), stat(reply.stat()));
        }
        if (body instanceof ReplyBody.Multi reply && request instanceof Multi multi) {
            return results(multi, reply);
        }
        if (body instanceof ReplyBody.Err reply && reply.err() != 0) {
            throw ServerErrors.failure(request.describe(), reply.err());
        }
        return Done.DONE;
    }

    private static NodePath createdPath(Create create, ReplyBody.Create2 reply) {
        return create.mode().isSequential() ? NodePath.of(reply.path()) : create.path();
    }

    private static List<Multi.Result> results(Multi multi, ReplyBody.Multi reply) {
        List<ReplyBody.MultiResult> results = reply.results();
        int refused = refusedIndex(results);
        if (refused >= 0) {
            String operation = refused < multi.operations().size()
                    ? multi.operations().get(refused).describe()
                    : multi.describe();
            throw ServerErrors.failure(
                    operation + " (operation " + refused + " of a multi)",
                    ((ReplyBody.Err) results.get(refused).body()).err(),
                    refused);
        }
        if (results.size() != multi.operations().size()) {
            throw new IllegalArgumentException(
                    results.size() + " results for " + multi.operations().size() + " operations");
        }
        List<Multi.Result> answers = new ArrayList<>(results.size());
        for (int i = 0; i < results.size(); i++) {
            ReplyBody body = results.get(i).body();
            if (!answers(multi.operations().get(i), body)) {
                throw new IllegalArgumentException("operation " + i + " is answered by a "
                        + body.getClass().getSimpleName());
            }
            answers.add(result(body));
        }
        return answers;
    }

    private static boolean answers(Operation<?> operation, ReplyBody body) {
        if (operation instanceof Create) {
            return body instanceof ReplyBody.Create || body instanceof ReplyBody.Create2;
        }
        return operation instanceof SetData == body instanceof ReplyBody.Stat;
    }

    /** The first operation with an error of its own: those before it say 0, those behind it -2. */
    private static int refusedIndex(List<ReplyBody.MultiResult> results) {
        int first = -1;
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i).body() instanceof ReplyBody.Err error) {
                if (error.err() != 0 && ServerErrors.reason(error.err()) != RefusalReason.ROLLED_BACK) {
                    return i;
                }
                if (first < 0) {
                    first = i;
                }
            }
        }
        return first;
    }

    private static Multi.Result result(ReplyBody body) {
        if (body instanceof ReplyBody.Create2 reply) {
            return new Multi.Result(Optional.of(NodePath.of(reply.path())), Optional.of(stat(reply.stat())));
        }
        if (body instanceof ReplyBody.Create reply) { // ZooKeeper 3.5 tells no Stat in a multi
            return new Multi.Result(Optional.of(NodePath.of(reply.path())), Optional.empty());
        }
        return body instanceof ReplyBody.Stat reply
                ? new Multi.Result(Optional.empty(), Optional.of(stat(reply.stat())))
                : Multi.Result.NONE;
    }

    private static NodeStat stat(StatRecord stat) {
        return new NodeStat(
                stat.czxid(),
                stat.mzxid(),
                stat.pzxid(),
                stat.ctime(),
                stat.mtime(),
                stat.version(),
                stat.cversion(),
                stat.aversion(),
                stat.ephemeralOwner(),
                stat.dataLength(),
                stat.numChildren());
    }

    private static List<AclRecord> aclRecords(Acl acl) {
        return acl.entries().stream()
                .map(entry -> new AclRecord(entry.permissionBits(), entry.scheme(), entry.id()))
                .toList();
    }

    private static Acl acl(List<AclRecord> records) {
        return new Acl(records.stream()
                .map(entry -> new Acl.Entry(permissions(entry.perms()), entry.scheme(), entry.id()))
                .toList());
    }

    private static Set<Permission> permissions(int bits) {
        return Arrays.stream(Permission.values())
                .filter(permission -> (bits & permission.bit()) != 0)
                .collect(Collectors.toSet());
    }
}
