package io.conclave.protocol;

/**
 * What follows the header of a request. Each body knows its operation, so that nothing else is needed to send it.
 */
public sealed interface RequestBody extends WireRecord
        permits AddWatchRequest,
                AuthRequest,
                CheckVersionRequest,
                CheckWatchesRequest,
                CreateRequest,
                DeleteRequest,
                EmptyRequest,
                ExistsRequest,
                GetAclRequest,
                GetAllChildrenNumberRequest,
                GetChildren2Request,
                GetChildrenRequest,
                GetDataRequest,
                GetEphemeralsRequest,
                MultiRequest,
                OpaqueRequest,
                ReconfigRequest,
                RemoveWatchesRequest,
                SaslRequest,
                SetAclRequest,
                SetDataRequest,
                SetWatchesRequest,
                SyncRequest {

    /** The operation, for the header. */
    OpCode opCode();

    /**
     * Reads the body of a request. Bytes behind it are left alone, as ZooKeeper does.
     *
     * @param opCode the operation in the header
     * @param in the frame behind the header
     * @return the body; of operations that are internal to servers an {@link OpaqueRequest}
     * @throws MalformedFrameException if the frame does not hold such a body
     */
    static RequestBody decode(OpCode opCode, JuteReader in) {
        return switch (opCode) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL -> CreateRequest.decode(opCode, in);
            case DELETE -> DeleteRequest.decode(in);
            case EXISTS -> ExistsRequest.decode(in);
            case GET_DATA -> GetDataRequest.decode(in);
            case SET_DATA -> SetDataRequest.decode(in);
            case GET_ACL -> GetAclRequest.decode(in);
            case SET_ACL -> SetAclRequest.decode(in);
            case GET_CHILDREN -> GetChildrenRequest.decode(in);
            case GET_CHILDREN2 -> GetChildren2Request.decode(in);
            case SYNC -> SyncRequest.decode(in);
            case CHECK -> CheckVersionRequest.decode(in);
            case MULTI, MULTI_READ -> MultiRequest.decode(opCode, in);
            case RECONFIG -> ReconfigRequest.decode(in);
            case CHECK_WATCHES -> CheckWatchesRequest.decode(in);
            case REMOVE_WATCHES -> RemoveWatchesRequest.decode(in);
            case ADD_WATCH -> AddWatchRequest.decode(in);
            case SET_WATCHES, SET_WATCHES2 -> SetWatchesRequest.decode(opCode, in);
            case AUTH -> AuthRequest.decode(in);
            case SASL -> SaslRequest.decode(in);
            case GET_EPHEMERALS -> GetEphemeralsRequest.decode(in);
            case GET_ALL_CHILDREN_NUMBER -> GetAllChildrenNumberRequest.decode(in);
            case PING, CLOSE_SESSION, WHO_AM_I -> new EmptyRequest(opCode);
            case CREATE_SESSION, DELETE_CONTAINER, ERROR -> new OpaqueRequest(opCode, in.readRemaining());
        };
    }
}
