package io.conclave.connection;

import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.ReplyHeader;
import io.conclave.protocol.WatcherEvent;
import io.conclave.protocol.Xid;
import io.conclave.tree.PermissionBits;
import io.conclave.tree.TreeEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Sends a connection its watch events. While an answer is made part by part from one state, events of later changes
 * wait behind it, and what the client is told of zxids stays behind them as well: it would take a watch for set and its
 * event for missed only if it knew a later zxid than that of the last event. Belongs to the connection's loop.
 */
final class ConnectionEvents {
    private static final int BYTES_OF_AN_EVENT = 64;

    private final ClientConnection connection;
    private final long mostBytes;
    private final List<TreeEvent> waiting = new ArrayList<>();
    private long waitingBytes;
    private boolean holding;
    private long heldZxid;

    /** Events of that many bytes may wait; beyond it the connection is cut. */
    ConnectionEvents(ClientConnection connection, long mostBytes) {
        this.connection = connection;
        this.mostBytes = mostBytes;
    }

    /** The client may read the node. */
    void tell(TreeEvent event) {
        if (!event.acl().permits(connection.authIds(), PermissionBits.READ)) {
            return;
        }
        if (!holding) {
            send(event);
            return;
        }
        waiting.add(event);
        waitingBytes += BYTES_OF_AN_EVENT + event.path().length();
        if (waitingBytes > mostBytes) {
            waiting.clear();
            connection.close("too many events wait behind a long answer");
        }
    }

    private void send(TreeEvent event) {
        connection.write(
                new ReplyHeader(Xid.WATCH_EVENT, event.zxid(), ErrorCode.OK.code()),
                new WatcherEvent(event.type().code(), WatcherEvent.STATE_CONNECTED, event.path()));
    }

    /** From here on, until {@link #release}, the client sees the state that the loop shows now. */
    void hold() {
        holding = true;
        heldZxid = connection.loop().state().lastZxid();
    }

    /** The answer has been written. */
    void release() {
        holding = false;
        List<TreeEvent> later = List.copyOf(waiting);
        waiting.clear();
        waitingBytes = 0;
        later.forEach(this::send);
    }

    /** Up to which change the client has seen all that it is to see. */
    long shownZxid() {
        return holding ? heldZxid : connection.loop().state().lastZxid();
    }
}
