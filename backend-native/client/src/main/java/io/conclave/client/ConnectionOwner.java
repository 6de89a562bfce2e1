package io.conclave.client;

import io.conclave.protocol.ConnectResponse;

/** Decides what follows when something happens to a connection. Called on the session's event loop. */
interface ConnectionOwner {
    /** It is open, and nothing has been sent. */
    void onOpen(Connection opened);

    /** The server has answered the handshake. */
    void onGreeted(Connection opened, ConnectResponse response);

    /** What had arrived was read; answers may have proved the session alive. */
    void onReadComplete();

    /** The socket takes more output again. */
    void onWritable();

    /** It was to {@link Connection#leave}, and nothing is in flight any more. */
    void onLeft(Connection left);

    /** It has ended, or could not be made. Told once. */
    void onShut(Connection gone, String reason);
}
