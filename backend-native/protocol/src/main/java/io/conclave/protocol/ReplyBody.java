package io.conclave.protocol;

/**
 * What follows the header of a reply without an error. Which one it is depends on the operation of the request, which a
 * reply does not repeat.
 */
public sealed interface ReplyBody extends WireRecord
        permits Create2Reply,
                CreateReply,
                EmptyReply,
                ErrorReply,
                GetAclReply,
                GetAllChildrenNumberReply,
                GetChildren2Reply,
                GetChildrenReply,
                GetDataReply,
                GetEphemeralsReply,
                MultiReply,
                OpaqueReply,
                SaslReply,
                StatReply,
                SyncReply,
                WhoAmIReply {

    /**
     * Reads the body of a reply whose header has no error. Bytes behind it are left alone, as ZooKeeper does.
     *
     * @param opCode the operation of the request that is answered
     * @param in the frame behind the header
     * @return the body; of operations that are internal to servers an {@link OpaqueReply}
     * @throws MalformedFrameException if the frame does not hold such a body
     */
    static ReplyBody decode(OpCode opCode, JuteReader in) {
        return switch (opCode) {
            case CREATE -> CreateReply.decode(in);
            case CREATE2, CREATE_CONTAINER, CREATE_TTL -> Create2Reply.decode(in);
            case EXISTS, SET_DATA, SET_ACL -> StatReply.decode(in);
            case GET_DATA, RECONFIG -> GetDataReply.decode(in);
            case GET_ACL -> GetAclReply.decode(in);
            case GET_CHILDREN -> GetChildrenReply.decode(in);
            case GET_CHILDREN2 -> GetChildren2Reply.decode(in);
            case SYNC -> SyncReply.decode(in);
            case MULTI, MULTI_READ -> MultiReply.decode(in);
            case ADD_WATCH -> ErrorReply.decode(in);
            case SASL -> SaslReply.decode(in);
            case GET_EPHEMERALS -> GetEphemeralsReply.decode(in);
            case GET_ALL_CHILDREN_NUMBER -> GetAllChildrenNumberReply.decode(in);
            case WHO_AM_I -> WhoAmIReply.decode(in);
            case DELETE, PING, CLOSE_SESSION, CHECK, CHECK_WATCHES, REMOVE_WATCHES, SET_WATCHES, SET_WATCHES2, AUTH ->
                EmptyReply.INSTANCE;
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new OpaqueReply(in.readRemaining());
        };
    }
}
