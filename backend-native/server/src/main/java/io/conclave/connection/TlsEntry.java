package io.conclave.connection;

import io.conclave.tls.TlsContext;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Stands between TLS and its connection: gives it the id of the client's certificate, and says in the log why TLS has
 * failed. Belongs to the loop.
 */
final class TlsEntry extends ChannelInboundHandlerAdapter {
    private final ClientConnection connection;
    private final TlsContext tls;
    private final Optional<String> superUser;
    private final Runnable onSecured;
    private final Refusals refusals;
    private final BooleanSupplier offersIds;
    private boolean refused;

    /**
     * @param onSecured told when a handshake has succeeded
     * @param offersIds whether all members understand ids of certificates
     */
    TlsEntry(
            ClientConnection connection,
            TlsContext tls,
            Optional<String> superUser,
            Runnable onSecured,
            Refusals refusals,
            BooleanSupplier offersIds) {
        this.connection = connection;
        this.tls = tls;
        this.superUser = superUser;
        this.onSecured = onSecured;
        this.refusals = refusals;
        this.offersIds = offersIds;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
            super.userEventTriggered(context, event);
        } else if (handshake.isSuccess()) {
            onSecured.run();
            SslHandler handler = context.pipeline().get(SslHandler.class);
            TlsContext.peerSubject(handler).ifPresent(this::proved);
        } else {
            refuse(context, handshake.cause());
        }
    }

    private void proved(String subject) {
        List<AuthId> ids = new ArrayList<>(connection.authIds());
        if (offersIds.getAsBoolean()) {
            ids.add(new AuthId(IdScheme.X509.word(), subject));
        }
        if (superUser.filter(subject::equals).isPresent()) {
            ids.add(AuthId.SUPER);
        }
        connection.authIds(ids);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) throws Exception {
        if (TlsContext.isTlsFailure(cause)) {
            refuse(context, cause);
        } else {
            super.exceptionCaught(context, cause);
        }
    }

    private void refuse(ChannelHandlerContext context, Throwable cause) {
        if (!refused && !connection.isGone()) {
            refused = true;
            String reason = tls.explainAsServer(cause);
            refusals.add(context.channel().remoteAddress(), reason);
            connection.close(reason);
        }
    }
}
