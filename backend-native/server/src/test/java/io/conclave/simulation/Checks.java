package io.conclave.simulation;

import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.StatRecord;
import io.conclave.replica.Step;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.TreeException;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeReads;
import io.conclave.tree.TreeState;
import io.conclave.tree.ZnodeStat;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Compares what a client is answered with what is so. */
final class Checks {
    private static final int NO_NODE = -101;

    private final Simulation world;

    Checks(Simulation world) {
        this.world = world;
    }

    void require(boolean condition, Supplier<String> message) {
        if (!condition) {
            throw new Violation(message.get());
        }
    }

    /** Returns whether the answer is one that keeps a session alive: that of a write. */
    boolean check(SimulatedClient client, SimulatedClient.Request request, SimulatedClient.Reply reply) {
        return switch (request.body.opCode()) {
            case CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, MULTI, CLOSE_SESSION -> {
                if (reply.isNoRoom()) {
                    world.trace.count("writes refused for want of room");
                    world.truth.refused(request.tag);
                    yield false;
                }
                if (reply.isUnknown()) {
                    checkUnknown(client, request, reply);
                    yield false;
                }
                checkWrite(client, request, reply);
                yield true;
            }
            case EXISTS, GET_DATA, GET_CHILDREN2 -> {
                checkRead(client, request, reply);
                yield false;
            }
            default -> false;
        };
    }

    // ---- writes

    private void checkWrite(SimulatedClient client, SimulatedClient.Request request, SimulatedClient.Reply reply) {
        long zxid = reply.header().zxid();
        require(
                zxid > request.seenZxid,
                () -> client + " wrote at 0x" + Long.toHexString(zxid) + ", behind 0x"
                        + Long.toHexString(request.seenZxid) + " that a client had seen when it asked");
        Step step = world.truth.stepAt(zxid);
        Result result = step.applied().result();
        if (step.change() instanceof Change.CloseSession close) {
            require(close.id() == client.sessionId(), () -> client + " is answered the end of another session");
            return;
        }
        require(
                step.change() instanceof Change.Request asked
                        && asked.sessionId() == client.sessionId()
                        && isSame(request, asked.operation()),
                () -> client + " is answered " + reply + " to " + request.body + ", but that is " + step.change());
        int error = result instanceof Result.Failed failed ? failed.error().code() : 0;
        require(
                error == reply.header().err(),
                () -> client + " is answered " + reply + ", but the result is " + result);
        if (error == 0) {
            checkResult(client, reply.body(), result);
        }
    }

    /** Only before the members have agreed that there are nodes with a time to live. */
    private void checkUnknown(SimulatedClient client, SimulatedClient.Request request, SimulatedClient.Reply reply) {
        require(
                request.body.opCode() == OpCode.CREATE_TTL
                        && world.truth.stateAt(request.shownZxid).featureLevel() < Change.TTL_FEATURE_LEVEL,
                () -> client + " is answered " + reply + " to " + request.body);
        world.trace.count("creations with a TTL refused");
        world.truth.refused(request.tag);
    }

    private static boolean isSame(SimulatedClient.Request request, TreeOperation operation) {
        if (!request.tag.isEmpty()) {
            return Truth.Tags.of(operation).equals(request.tag);
        }
        return operation instanceof TreeOperation.Delete delete
                && request.body instanceof RequestBody.Delete asked
                && delete.path().equals(asked.path());
    }

    private void checkResult(SimulatedClient client, ReplyBody body, Result result) {
        boolean same = true;
        if (result instanceof Result.Created created) {
            same = body instanceof ReplyBody.Create2 reply
                    && reply.path().equals(created.path())
                    && isSame(reply.stat(), created.stat());
        } else if (result instanceof Result.DataSet set) {
            same = body instanceof ReplyBody.Stat reply && isSame(reply.stat(), set.stat());
        } else if (result instanceof Result.MultiDone done) {
            same = body instanceof ReplyBody.Multi reply
                    && reply.results().size() == done.results().size();
        } else if (result instanceof Result.MultiFailed failed) {
            same = body instanceof ReplyBody.Multi reply && reply.results().size() == failed.parts();
        }
        require(same, () -> client + " is answered " + body + ", but the result is " + result);
    }

    private static boolean isSame(StatRecord told, ZnodeStat stat) {
        return told.czxid() == stat.czxid()
                && told.mzxid() == stat.mzxid()
                && told.pzxid() == stat.pzxid()
                && told.version() == stat.version()
                && told.cversion() == stat.cversion()
                && told.ephemeralOwner() == stat.ephemeralOwner()
                && told.dataLength() == stat.dataLength()
                && told.numChildren() == stat.numChildren();
    }

    // ---- reads

    private void checkRead(SimulatedClient client, SimulatedClient.Request request, SimulatedClient.Reply reply) {
        long zxid = reply.header().zxid();
        TreeState state = world.truth.stateAt(zxid);
        try {
            boolean same;
            if (request.body instanceof RequestBody.GetData get) {
                TreeReads.Data data = TreeReads.data(state, get.path(), List.of());
                same = reply.body() instanceof ReplyBody.GetData body
                        && Arrays.equals(body.data(), data.bytes())
                        && isSame(body.stat(), data.stat());
            } else if (request.body instanceof RequestBody.Exists exists) {
                ZnodeStat stat = TreeReads.exists(state, exists.path(), List.of());
                same = reply.body() instanceof ReplyBody.Stat body && isSame(body.stat(), stat);
            } else {
                String path = ((RequestBody.GetChildren) request.body).path();
                TreeReads.Children children = TreeReads.children(state, path, List.of());
                same = reply.body() instanceof ReplyBody.GetChildren2 body
                        && new TreeSet<>(body.children()).equals(new TreeSet<>(children.names()))
                        && isSame(body.stat(), children.stat());
            }
            require(same, () -> client + " reads " + reply + " by " + request.body + ", which is not so");
        } catch (TreeException e) {
            require(
                    reply.header().err() == e.error().code(),
                    () -> client + " reads " + reply + " by " + request.body + ", but ought to get " + e.error());
        }
        arm(client, request, reply.header().err(), zxid);
    }

    private static void arm(SimulatedClient client, SimulatedClient.Request request, int error, long zxid) {
        if (request.body instanceof RequestBody.GetData get && get.watch() && error == 0) {
            client.watches.armed(get.path(), false, zxid);
        } else if (request.body instanceof RequestBody.Exists exists
                && exists.watch()
                && (error == 0 || error == NO_NODE)) {
            client.watches.armed(exists.path(), false, zxid);
        } else if (request.body instanceof RequestBody.GetChildren children && children.watch() && error == 0) {
            client.watches.armed(children.path(), true, zxid);
        }
    }
}
