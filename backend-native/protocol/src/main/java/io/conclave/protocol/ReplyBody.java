package io.conclave.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The replies: what follows the header of a reply without an error. Which one it is depends on the operation of the
 * request, which a reply does not repeat. The components stand in the order of the wire, as in {@code zookeeper.jute}.
 *
 * <p>Where a record does not say otherwise, {@code path} is that of the new node (with the number that was appended),
 * {@code data}, {@code acl} and {@code stat} are the node's.
 */
public sealed interface ReplyBody extends WireRecord {

    /**
     * Reads the body of a reply whose header has no error. Bytes behind it are left alone, as ZooKeeper does.
     *
     * @param opCode the operation of the request that is answered
     * @param in the frame behind the header
     * @return the body; of operations that are internal to servers an {@link Opaque}
     * @throws MalformedFrameException if the frame does not hold such a body
     */
    static ReplyBody decode(OpCode opCode, JuteReader in) {
        return switch (opCode) {
            case CREATE -> Create.decode(in);
            case CREATE2, CREATE_CONTAINER, CREATE_TTL -> Create2.decode(in);
            case EXISTS, SET_DATA, SET_ACL -> Stat.decode(in);
            case GET_DATA, RECONFIG -> GetData.decode(in);
            case GET_ACL -> GetAcl.decode(in);
            case GET_CHILDREN -> GetChildren.decode(in);
            case GET_CHILDREN2 -> GetChildren2.decode(in);
            case SYNC -> Sync.decode(in);
            case MULTI, MULTI_READ -> Multi.decode(in);
            case ADD_WATCH -> Err.decode(in);
            case SASL -> Sasl.decode(in);
            case GET_EPHEMERALS -> GetEphemerals.decode(in);
            case GET_ALL_CHILDREN_NUMBER -> GetAllChildrenNumber.decode(in);
            case WHO_AM_I -> WhoAmI.decode(in);
            case DELETE, PING, CLOSE_SESSION, CHECK, CHECK_WATCHES, REMOVE_WATCHES, SET_WATCHES, SET_WATCHES2, AUTH ->
                Empty.INSTANCE;
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new Opaque(in.readRemaining());
        };
    }

    /** Answers {@link OpCode#CREATE}. */
    record Create(String path) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
        }

        static Create decode(JuteReader in) {
            return new Create(in.readString("path"));
        }
    }

    /** Answers all other operations that create a node. */
    record Create2(String path, StatRecord stat) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            stat.encode(out);
        }

        static Create2 decode(JuteReader in) {
            return new Create2(in.readString("path"), StatRecord.decode(in));
        }
    }

    /** Answers exists, setData and setACL. */
    record Stat(StatRecord stat) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            stat.encode(out);
        }

        static Stat decode(JuteReader in) {
            return new Stat(StatRecord.decode(in));
        }
    }

    /** Answers getData and reconfig. */
    record GetData(byte @Nullable [] data, StatRecord stat) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeBuffer(data);
            stat.encode(out);
        }

        static GetData decode(JuteReader in) {
            return new GetData(in.readBuffer("data"), StatRecord.decode(in));
        }
    }

    /** Answers getACL. */
    record GetAcl(List<AclRecord> acl, StatRecord stat) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeVector(acl);
            stat.encode(out);
        }

        static GetAcl decode(JuteReader in) {
            return new GetAcl(AclRecord.decodeList(in), StatRecord.decode(in));
        }
    }

    /**
     * Answers getChildren.
     *
     * @param children the names of the children, in no order
     */
    record GetChildren(List<String> children) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeStrings(children);
        }

        static GetChildren decode(JuteReader in) {
            return new GetChildren(in.readStrings("children"));
        }
    }

    /**
     * Answers getChildren2.
     *
     * @param children the names of the children, in no order
     */
    record GetChildren2(List<String> children, StatRecord stat) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeStrings(children);
            stat.encode(out);
        }

        static GetChildren2 decode(JuteReader in) {
            return new GetChildren2(in.readStrings("children"), StatRecord.decode(in));
        }
    }

    /**
     * Answers getAllChildrenNumber.
     *
     * @param totalNumber the number of all descendants
     */
    record GetAllChildrenNumber(int totalNumber) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeInt(totalNumber);
        }

        static GetAllChildrenNumber decode(JuteReader in) {
            return new GetAllChildrenNumber(in.readInt("totalNumber"));
        }
    }

    /** Answers getEphemerals, with the paths. */
    record GetEphemerals(List<String> ephemerals) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeStrings(ephemerals);
        }

        static GetEphemerals decode(JuteReader in) {
            return new GetEphemerals(in.readStrings("ephemerals"));
        }
    }

    /** Answers sync, with the path of the request. */
    record Sync(String path) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
        }

        static Sync decode(JuteReader in) {
            return new Sync(in.readString("path"));
        }
    }

    /**
     * Answers multi and multiRead. The header has no error even if the multi failed: the results say so.
     *
     * @param results the result of each operation, in order
     */
    record Multi(List<MultiResult> results) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            for (MultiResult result : results) {
                result.encode(out);
            }
            MultiHeader.END.encode(out);
        }

        static Multi decode(JuteReader in) {
            List<MultiResult> results = new ArrayList<>();
            for (MultiHeader header = MultiHeader.decode(in); !header.done(); header = MultiHeader.decode(in)) {
                results.add(MultiResult.decode(header, in));
            }
            return new Multi(Collections.unmodifiableList(results));
        }
    }

    /**
     * The result of one operation of a multi.
     *
     * @param opCode the operation, or {@link OpCode#ERROR}. A container or a node with a time to live is answered as
     *     {@link OpCode#CREATE2}, because results know no other create with a Stat
     * @param body the result: an {@link Err} if and only if the operation is ERROR
     */
    record MultiResult(OpCode opCode, ReplyBody body) implements WireRecord {
        /** Checks that the body is one of the operation's. */
        public MultiResult {
            Class<? extends ReplyBody> expected = bodyOf(opCode);
            if (!expected.isInstance(body)) {
                throw new IllegalArgumentException("the result of " + opCode + " is a " + expected.getSimpleName()
                        + ", not a " + body.getClass().getSimpleName());
            }
        }

        /**
         * The result of an operation that succeeded.
         *
         * @param requested the operation that was asked for
         * @param body what it gave
         */
        public static MultiResult succeeded(OpCode requested, ReplyBody body) {
            return new MultiResult(
                    switch (requested) {
                        case CREATE_CONTAINER, CREATE_TTL -> OpCode.CREATE2;
                        default -> requested;
                    },
                    body);
        }

        /**
         * The result of an operation in a multi that failed, or of a read that failed.
         *
         * @param err the error at the operation that failed, 0 before it, {@link ErrorCode#RUNTIME_INCONSISTENCY}
         *     behind it
         */
        public static MultiResult failed(int err) {
            return new MultiResult(OpCode.ERROR, new Err(err));
        }

        /** Writes what is in front of the body of a result that succeeded, if that is written part by part. */
        public static void encodeHeader(OpCode opCode, JuteWriter out) {
            MultiHeader.result(opCode, 0).encode(out);
        }

        @Override
        public void encode(JuteWriter out) {
            MultiHeader.result(opCode, body instanceof Err error ? error.err() : 0)
                    .encode(out);
            body.encode(out);
        }

        static MultiResult decode(MultiHeader header, JuteReader in) {
            OpCode opCode = header.opCode();
            return switch (opCode) {
                case ERROR -> new MultiResult(opCode, Err.decode(in));
                case CREATE, CREATE2, DELETE, SET_DATA, CHECK, GET_DATA, GET_CHILDREN ->
                    new MultiResult(opCode, ReplyBody.decode(opCode, in));
                default -> throw new MalformedFrameException("multi type", opCode + " is not a result of a multi");
            };
        }

        private static Class<? extends ReplyBody> bodyOf(OpCode opCode) {
            return switch (opCode) {
                case ERROR -> Err.class;
                case CREATE -> Create.class;
                case CREATE2 -> Create2.class;
                case DELETE, CHECK -> Empty.class;
                case SET_DATA -> Stat.class;
                case GET_DATA -> GetData.class;
                case GET_CHILDREN -> GetChildren.class;
                default -> throw new IllegalArgumentException(opCode + " is not a result of a multi");
            };
        }
    }

    /** Answers whoAmI, with the connection's identities. */
    record WhoAmI(List<ClientInfo> clientInfo) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeVector(clientInfo);
        }

        static WhoAmI decode(JuteReader in) {
            return new WhoAmI(in.readVector("clientInfo", ClientInfo.MIN_BYTES, ClientInfo::decode));
        }
    }

    /**
     * One identity of a connection.
     *
     * @param scheme how it was proved
     * @param user the identity
     */
    record ClientInfo(String scheme, String user) implements WireRecord {
        static final int MIN_BYTES = 2 * Integer.BYTES;

        @Override
        public void encode(JuteWriter out) {
            out.writeString(scheme);
            out.writeString(user);
        }

        static ClientInfo decode(JuteReader in) {
            return new ClientInfo(in.readString("authScheme"), in.readString("user"));
        }
    }

    /** Answers a step of a SASL authentication, with the server's token. */
    record Sasl(byte @Nullable [] token) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeBuffer(token);
        }

        static Sasl decode(JuteReader in) {
            return new Sasl(in.readBuffer("token"));
        }
    }

    /**
     * A failed result in a multi, and the answer to addWatch.
     *
     * @param err an {@link ErrorCode}, known or not; 0 for none
     */
    record Err(int err) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeInt(err);
        }

        static Err decode(JuteReader in) {
            return new Err(in.readInt("err"));
        }
    }

    /**
     * A reply that is all header: of delete, ping, auth, closeSession, the watch requests but addWatch, and all
     * errors.
     */
    record Empty() implements ReplyBody {
        /** The only one needed. */
        public static final Empty INSTANCE = new Empty();

        @Override
        public void encode(JuteWriter out) {}
    }

    /** What follows the header of the answer to an operation that is internal to servers. */
    record Opaque(byte[] bytes) implements ReplyBody {
        @Override
        public void encode(JuteWriter out) {
            out.writeRaw(bytes);
        }
    }
}
