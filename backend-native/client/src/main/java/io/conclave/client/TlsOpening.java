package io.conclave.client;

import io.conclave.spi.ConnectString.Endpoint;
import io.conclave.tls.TlsContext;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.io.IOException;

/**
 * Begins TLS on a channel that is open, and lets the connection begin when the handshake has succeeded. Stays between
 * the two: in TLS 1.3 a server may refuse this client's certificate after the client's part of the handshake. Belongs
 * to the loop.
 */
final class TlsOpening extends ChannelInboundHandlerAdapter {
    private final TlsContext tls;
    private final Endpoint endpoint;
    private final Connection connection;
    private final ClientTlsContext report;
    private boolean showedOwn = true;
    private boolean begun;
    private boolean failed;

    TlsOpening(TlsContext tls, Endpoint endpoint, Connection connection, ClientTlsContext report) {
        this.tls = tls;
        this.endpoint = endpoint;
        this.connection = connection;
        this.report = report;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        connection.opening(context.channel(), "the handshake of TLS is not complete");
        if (connection.isShut()) {
            return;
        }
        SslHandler handler = tls.clientHandler(endpoint.host(), endpoint.port());
        context.pipeline().addBefore(context.name(), "tls", handler);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
        if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
            super.userEventTriggered(context, event);
        } else if (!handshake.isSuccess()) {
            fail(handshake.cause());
        } else if (connection.isShut()) {
            context.close();
        } else {
            begun = true;
            showedOwn = TlsContext.showedOwn(context.pipeline().get(SslHandler.class));
            report.succeeded(endpoint);
            context.pipeline().addLast(connection);
            context.fireChannelActive();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) throws Exception {
        if (!begun || TlsContext.isTlsFailure(cause)) {
            fail(cause);
        } else {
            super.exceptionCaught(context, cause);
        }
    }

    private void fail(Throwable cause) {
        if (failed || connection.isShut()) {
            return; // the handshake of a connection that was given up ends so too
        }
        failed = true;
        String reason = tls.explainAsClient(cause, showedOwn);
        report.failed(endpoint, reason);
        connection.fail(reason, new IOException(reason, cause));
    }
}
