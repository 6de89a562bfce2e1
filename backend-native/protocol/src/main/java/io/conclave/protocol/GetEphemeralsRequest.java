package io.conclave.protocol;

/**
 * Lists the session's ephemeral nodes. Answered by a {@link GetEphemeralsReply}.
 *
 * @param prefixPath what the paths must start with, as plain text
 */
public record GetEphemeralsRequest(String prefixPath) implements RequestBody {

    @Override
    public OpCode opCode() {
        return OpCode.GET_EPHEMERALS;
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(prefixPath);
    }

    static GetEphemeralsRequest decode(JuteReader in) {
        return new GetEphemeralsRequest(in.readString("prefixPath"));
    }
}
