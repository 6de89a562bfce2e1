package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.RequestBody;
import java.util.Optional;

/** A znode that the client reads for itself, before the user's requests. Each connection asks anew. */
abstract class OwnRead extends Exchange {
    private static final byte[] NO_DATA = new byte[0];

    private final SessionParts.ErrorListener errors;
    private final String path;
    private final boolean watch;

    OwnRead(SessionParts.ErrorListener errors, String path, boolean watch) {
        this.errors = errors;
        this.path = path;
        this.watch = watch;
    }

    /** The data, which may have no bytes; empty if the server refused the read, because it has no such znode, say. */
    abstract void onData(Optional<byte[]> data);

    @Override
    final String describe() {
        return "get " + path;
    }

    @Override
    final Optional<RequestBody> body() {
        return Optional.of(new RequestBody.GetData(path, watch));
    }

    @Override
    final boolean isBehindWatches() {
        return false;
    }

    @Override
    final void answered(ReplyHeader header, JuteReader in) {
        if (ServerErrors.endsSession(header.err())
                || ServerErrors.endsConnection(header.err())
                || ServerErrors.wantsCredentials(header.err())) {
            errors.onError(header.err(), describe());
        } else if (header.err() == ErrorCode.OK.code()
                && ReplyBody.decode(OpCode.GET_DATA, in) instanceof ReplyBody.GetData reply) {
            byte[] data = reply.data();
            onData(Optional.of(data == null ? NO_DATA : data));
        } else {
            onData(Optional.empty());
        }
    }

    @Override
    final void failed(ConclaveException failure) {
        // The connection has ended, and the next one asks again.
    }
}
