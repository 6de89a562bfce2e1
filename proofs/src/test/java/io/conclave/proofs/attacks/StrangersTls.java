package io.conclave.proofs.attacks;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** TLS of somebody who has no certificate, and asks for none. */
final class StrangersTls {
    private static final SSLContext CONTEXT = context();
    private static final byte[] CLIENT_HELLO = recordedHello();

    private StrangersTls() {}

    private static SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLSv1.3");
            context.init(null, new TrustManager[] {new Believer()}, new SecureRandom());
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Believer implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {
            // nobody asks
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {
            // any server is trusted
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    private static byte[] recordedHello() {
        try {
            SSLEngine engine = CONTEXT.createSSLEngine();
            engine.setUseClientMode(true);
            ByteBuffer out = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), out);
            return Arrays.copyOf(out.array(), out.position());
        } catch (SSLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The first message of a handshake: its sender has computed nothing for it. */
    static byte[] clientHello() {
        return CLIENT_HELLO.clone();
    }

    /** Blocks for the handshake. */
    static Socket over(Socket socket) throws IOException {
        SSLSocket secure = (SSLSocket) CONTEXT.getSocketFactory()
                .createSocket(socket, socket.getInetAddress().getHostAddress(), socket.getPort(), true);
        secure.startHandshake();
        return secure;
    }
}
