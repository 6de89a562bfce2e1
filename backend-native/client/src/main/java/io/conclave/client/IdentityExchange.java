package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.GetDataReply;
import io.conclave.protocol.GetDataRequest;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;

/** Asks whose server this is, and to be told before it stops. */
final class IdentityExchange extends Exchange {
    private static final byte[] NO_DATA = new byte[0];

    private final SessionMachine session;
    private final Connection asked;
    private final boolean watch;

    /**
     * The question.
     *
     * @param watch whether the session has somewhere else to go, and so wants to be told
     */
    IdentityExchange(SessionMachine session, Connection asked, boolean watch) {
        this.session = session;
        this.asked = asked;
        this.watch = watch;
    }

    @Override
    String describe() {
        return "get " + ServerIdentity.PATH;
    }

    @Override
    Optional<RequestBody> body() {
        return Optional.of(new GetDataRequest(ServerIdentity.PATH, watch));
    }

    @Override
    boolean isBehindWatches() {
        return false;
    }

    @Override
    void answered(ReplyHeader header, JuteReader in) {
        if (Refusals.endsSession(header.err()) || Refusals.endsConnection(header.err())) {
            session.onError(header.err(), describe());
            return;
        }
        ServerIdentity server = ServerIdentity.FOREIGN;
        if (header.err() == ErrorCode.OK.code()
                && ReplyBody.decode(OpCode.GET_DATA, in) instanceof GetDataReply reply) {
            byte[] data = reply.data();
            server = ServerIdentity.parse(data == null ? NO_DATA : data);
        }
        session.onIdentified(asked, server);
    }

    @Override
    void failed(ConclaveException failure) {
        // The connection has ended, and the next one asks again.
    }
}
