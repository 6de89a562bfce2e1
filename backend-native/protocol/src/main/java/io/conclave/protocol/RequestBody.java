package io.conclave.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The requests: what follows the header of each. Each body knows its operation, so that nothing else is needed to send
 * it. A record has the name of its operation, and the components in the order of the wire, as in
 * {@code zookeeper.jute}.
 *
 * <p>Where a record does not say otherwise, {@code path} is the node, {@code version} the version expected (or -1 for
 * any), and {@code watch} says whether to set a one-shot watch.
 */
public sealed interface RequestBody extends WireRecord
        permits RequestBody.Create,
                RequestBody.Delete,
                RequestBody.SetData,
                RequestBody.SetAcl,
                RequestBody.CheckVersion,
                RequestBody.Exists,
                RequestBody.GetData,
                RequestBody.GetAcl,
                RequestBody.GetChildren,
                RequestBody.GetAllChildrenNumber,
                RequestBody.GetEphemerals,
                RequestBody.Sync,
                RequestBody.Multi,
                RequestBody.Reconfig,
                RequestBody.Opaque,
                ConnectionRequest,
                WatchRequest {

    /** The operation, for the header. */
    OpCode opCode();

    /**
     * Reads the body of a request. Bytes behind it are left alone, as ZooKeeper does.
     *
     * @param opCode the operation in the header
     * @param in the frame behind the header
     * @return the body; of operations that are internal to servers an {@link Opaque}
     * @throws MalformedFrameException if the frame does not hold such a body
     * @throws PathTooLongException if it has a path that is longer than the reader allows
     */
    static RequestBody decode(OpCode opCode, JuteReader in) {
        return switch (opCode) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL -> Create.decode(opCode, in);
            case DELETE -> Delete.decode(in);
            case EXISTS -> Exists.decode(in);
            case GET_DATA -> GetData.decode(in);
            case SET_DATA -> SetData.decode(in);
            case GET_ACL -> GetAcl.decode(in);
            case SET_ACL -> SetAcl.decode(in);
            case GET_CHILDREN, GET_CHILDREN2 -> GetChildren.decode(opCode, in);
            case SYNC -> Sync.decode(in);
            case CHECK -> CheckVersion.decode(in);
            case MULTI, MULTI_READ, SET_WATCHES, SET_WATCHES2 ->
                RequestDecoder.of(opCode, in).all();
            case RECONFIG -> Reconfig.decode(in);
            case CHECK_WATCHES -> WatchRequest.CheckWatches.decode(in);
            case REMOVE_WATCHES -> WatchRequest.RemoveWatches.decode(in);
            case ADD_WATCH -> WatchRequest.AddWatch.decode(in);
            case AUTH -> ConnectionRequest.Auth.decode(in);
            case SASL -> ConnectionRequest.Sasl.decode(in);
            case GET_EPHEMERALS -> GetEphemerals.decode(in);
            case GET_ALL_CHILDREN_NUMBER -> GetAllChildrenNumber.decode(in);
            case PING, CLOSE_SESSION, WHO_AM_I -> new ConnectionRequest.Empty(opCode);
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new Opaque(opCode, in.readRemaining());
        };
    }

    /**
     * Creates a node. Answered by {@link ReplyBody.Create} if the operation is CREATE, else by
     * {@link ReplyBody.Create2}.
     *
     * @param opCode {@link OpCode#CREATE}, {@link OpCode#CREATE2}, {@link OpCode#CREATE_CONTAINER} or
     *     {@link OpCode#CREATE_TTL}
     * @param path the path, without the number that the server appends
     * @param flags a {@link CreateFlag}, known or not
     * @param ttlMs the time to live; on the wire with CREATE_TTL only, else 0
     */
    record Create(OpCode opCode, String path, byte @Nullable [] data, List<AclRecord> acl, int flags, long ttlMs)
            implements RequestBody {
        /** Checks that the operation is one of the four and that only one of them has a time to live. */
        public Create {
            switch (opCode) {
                case CREATE, CREATE2, CREATE_CONTAINER -> {
                    if (ttlMs != 0) {
                        throw new IllegalArgumentException(opCode + " cannot carry a time to live: " + ttlMs + " ms");
                    }
                }
                case CREATE_TTL -> {}
                default -> throw new IllegalArgumentException(opCode + " does not create a node");
            }
        }

        /** Creates a node without a time to live. */
        public Create(OpCode opCode, String path, byte @Nullable [] data, List<AclRecord> acl, CreateFlag flag) {
            this(opCode, path, data, acl, flag.code(), 0);
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeBuffer(data);
            out.writeVector(acl);
            out.writeInt(flags);
            if (opCode == OpCode.CREATE_TTL) {
                out.writeLong(ttlMs);
            }
        }

        static Create decode(OpCode opCode, JuteReader in) {
            return new Create(
                    opCode,
                    in.readPath("path"),
                    in.readBuffer("data"),
                    AclRecord.decodeList(in),
                    flags(opCode, in.readInt("flags")),
                    opCode == OpCode.CREATE_TTL ? in.readLong("ttl") : 0);
        }

        /** CREATE_CONTAINER makes a container, also where its flags are those of another plain node. */
        private static int flags(OpCode opCode, int sent) {
            boolean isPlain = sent == CreateFlag.PERSISTENT.code() || sent == CreateFlag.EPHEMERAL.code();
            return opCode == OpCode.CREATE_CONTAINER && isPlain ? CreateFlag.CONTAINER.code() : sent;
        }
    }

    /** Deletes a node. Answered by {@link ReplyBody.Empty}. */
    record Delete(String path, int version) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.DELETE;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeInt(version);
        }

        static Delete decode(JuteReader in) {
            return new Delete(in.readPath("path"), in.readInt("version"));
        }
    }

    /** Sets data. Answered by {@link ReplyBody.Stat}. */
    record SetData(String path, byte @Nullable [] data, int version) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.SET_DATA;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeBuffer(data);
            out.writeInt(version);
        }

        static SetData decode(JuteReader in) {
            return new SetData(in.readPathIfAny("path"), in.readBuffer("data"), in.readInt("version"));
        }
    }

    /** Sets the ACL if it has the version expected. Answered by {@link ReplyBody.Stat}. */
    record SetAcl(String path, List<AclRecord> acl, int version) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.SET_ACL;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeVector(acl);
            out.writeInt(version);
        }

        static SetAcl decode(JuteReader in) {
            return new SetAcl(in.readPathIfAny("path"), AclRecord.decodeList(in), in.readInt("version"));
        }
    }

    /** Lets a multi fail unless a node has a version. Has no place outside a {@link Multi}. */
    record CheckVersion(String path, int version) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.CHECK;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeInt(version);
        }

        static CheckVersion decode(JuteReader in) {
            return new CheckVersion(in.readPath("path"), in.readInt("version"));
        }
    }

    /**
     * Reads the Stat of a node. Answered by {@link ReplyBody.Stat}.
     *
     * @param watch whether to set a one-shot watch, also if the node does not exist
     */
    record Exists(String path, boolean watch) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.EXISTS;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeBool(watch);
        }

        static Exists decode(JuteReader in) {
            return new Exists(in.readPath("path"), in.readBool("watch"));
        }
    }

    /** Reads data and Stat. Answered by {@link ReplyBody.GetData}. */
    record GetData(String path, boolean watch) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.GET_DATA;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeBool(watch);
        }

        static GetData decode(JuteReader in) {
            return new GetData(in.readPath("path"), in.readBool("watch"));
        }
    }

    /** Reads the ACL. Answered by {@link ReplyBody.GetAcl}. */
    record GetAcl(String path) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.GET_ACL;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
        }

        static GetAcl decode(JuteReader in) {
            return new GetAcl(in.readPath("path"));
        }
    }

    /**
     * Reads the names of the children. Answered by {@link ReplyBody.GetChildren}; or if the operation is GET_CHILDREN2
     * by {@link ReplyBody.GetChildren2}, which has the Stat as well.
     */
    record GetChildren(OpCode opCode, String path, boolean watch) implements RequestBody {
        /** Checks that the operation is one of the two. */
        public GetChildren {
            if (opCode != OpCode.GET_CHILDREN && opCode != OpCode.GET_CHILDREN2) {
                throw new IllegalArgumentException(opCode + " does not read children");
            }
        }

        /** Reads the names alone. */
        public GetChildren(String path, boolean watch) {
            this(OpCode.GET_CHILDREN, path, watch);
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeBool(watch);
        }

        static GetChildren decode(OpCode opCode, JuteReader in) {
            return new GetChildren(opCode, in.readPath("path"), in.readBool("watch"));
        }
    }

    /** Counts all descendants. Answered by {@link ReplyBody.GetAllChildrenNumber}. */
    record GetAllChildrenNumber(String path) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.GET_ALL_CHILDREN_NUMBER;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
        }

        static GetAllChildrenNumber decode(JuteReader in) {
            return new GetAllChildrenNumber(in.readPath("path"));
        }
    }

    /** Lists the session's ephemeral nodes with such a prefix, as text. Answered by {@link ReplyBody.GetEphemerals}. */
    record GetEphemerals(String prefixPath) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.GET_EPHEMERALS;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(prefixPath);
        }

        static GetEphemerals decode(JuteReader in) {
            return new GetEphemerals(in.readPathIfAny("prefixPath"));
        }
    }

    /** Brings the server up to date. The path is only repeated in the answer, a {@link ReplyBody.Sync}. */
    record Sync(String path) implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.SYNC;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
        }

        static Sync decode(JuteReader in) {
            return new Sync(in.readPathIfAny("path"));
        }
    }

    /**
     * Several operations in one request. Answered by {@link ReplyBody.Multi}.
     *
     * @param opCode {@link OpCode#MULTI}: creates, deletes, setData and checks, all or none; or
     *     {@link OpCode#MULTI_READ}: getData and getChildren, each with its own result
     * @param operations the operations, in order; may be empty
     */
    record Multi(OpCode opCode, List<RequestBody> operations) implements RequestBody {
        /** Checks that the operations may stand in such a multi. */
        public Multi {
            for (RequestBody operation : operations) {
                if (!MultiHeader.mayContain(opCode, operation.opCode())) {
                    throw new IllegalArgumentException(operation.opCode() + " cannot be part of " + opCode);
                }
            }
        }

        @Override
        public void encode(JuteWriter out) {
            for (RequestBody operation : operations) {
                MultiHeader.request(operation.opCode()).encode(out);
                operation.encode(out);
            }
            MultiHeader.END.encode(out);
        }
    }

    /**
     * Changes the members of the ensemble. Answered by {@link ReplyBody.GetData} with the new configuration.
     *
     * @param joiningServers servers to add, for an incremental change
     * @param leavingServers servers to remove, for an incremental change
     * @param newMembers all servers, for a complete change
     * @param currentConfigId the configuration expected, or -1 for any
     */
    record Reconfig(
            @Nullable String joiningServers,
            @Nullable String leavingServers,
            @Nullable String newMembers,
            long currentConfigId)
            implements RequestBody {
        @Override
        public OpCode opCode() {
            return OpCode.RECONFIG;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(joiningServers);
            out.writeString(leavingServers);
            out.writeString(newMembers);
            out.writeLong(currentConfigId);
        }

        static Reconfig decode(JuteReader in) {
            return new Reconfig(
                    in.readNullableString("joiningServers"),
                    in.readNullableString("leavingServers"),
                    in.readNullableString("newMembers"),
                    in.readLong("curConfigId"));
        }
    }

    /** What follows the header of an operation that is internal to servers, which refuse it from clients. */
    record Opaque(OpCode opCode, byte[] bytes) implements RequestBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeRaw(bytes);
        }
    }
}
