package io.conclave.protocol;

import org.jspecify.annotations.Nullable;

/**
 * Changes the members of the ensemble. Answered by a {@link GetDataReply} with the new configuration.
 *
 * @param joiningServers servers to add, for an incremental change
 * @param leavingServers servers to remove, for an incremental change
 * @param newMembers all servers, for a complete change
 * @param currentConfigId the configuration expected, or -1 for any
 */
public record ReconfigRequest(
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

    static ReconfigRequest decode(JuteReader in) {
        return new ReconfigRequest(
                in.readNullableString("joiningServers"),
                in.readNullableString("leavingServers"),
                in.readNullableString("newMembers"),
                in.readLong("curConfigId"));
    }
}
