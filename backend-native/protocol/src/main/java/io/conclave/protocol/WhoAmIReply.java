package io.conclave.protocol;

import java.util.List;

/**
 * Answers whoAmI.
 *
 * @param clientInfo the connection's identities
 */
public record WhoAmIReply(List<ClientInfo> clientInfo) implements ReplyBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeVector(clientInfo);
    }

    static WhoAmIReply decode(JuteReader in) {
        return new WhoAmIReply(in.readVector("clientInfo", ClientInfo.MIN_BYTES, ClientInfo::decode));
    }
}
