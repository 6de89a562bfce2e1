package io.conclave.connection;

import io.conclave.protocol.OpCode;
import java.util.concurrent.TimeUnit;

/**
 * What one connection has done since it was opened, or since the operator reset it; its loop's counters count the same.
 * Belongs to the connection's loop.
 */
final class ConnectionStatistics {
    private static final double NANOS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);

    private final LoopCounters ofLoop;
    private final long establishedMs;
    private int waiting;
    private long received;
    private long sent;
    private String lastOperation = "NA";
    private long lastXid = -1;
    private long lastZxid;
    private long lastResponseMs;
    private long writes;
    private long lastLatencyNanos;
    private long minLatencyNanos;
    private long maxLatencyNanos;
    private double sumLatencyMs;

    /**
     * Of a connection that has done nothing.
     *
     * @param establishedMs when it was opened, by the wall clock
     */
    ConnectionStatistics(LoopCounters ofLoop, long establishedMs) {
        this.ofLoop = ofLoop;
        this.establishedMs = establishedMs;
    }

    /** Forgets all but when the connection was opened, and what waits. */
    void reset() {
        received = 0;
        sent = 0;
        lastOperation = "NA";
        lastXid = -1;
        lastZxid = 0;
        lastResponseMs = 0;
        writes = 0;
        lastLatencyNanos = 0;
        minLatencyNanos = 0;
        maxLatencyNanos = 0;
        sumLatencyMs = 0;
    }

    void received() {
        received++;
        ofLoop.received();
    }

    void sent() {
        sent++;
        ofLoop.sent();
    }

    /** So many more requests wait for their answers, or fewer. */
    void waiting(int more) {
        waiting += more;
        ofLoop.waiting(more);
    }

    /** A request was decoded. */
    void requested(OpCode opCode, int xid) {
        lastOperation = word(opCode);
        lastXid = xid;
    }

    /** A request was answered. */
    void replied(long zxid, long wallMs) {
        lastZxid = zxid;
        lastResponseMs = wallMs;
    }

    /** A write was answered so long after it came. */
    void written(long latencyNanos) {
        lastLatencyNanos = latencyNanos;
        minLatencyNanos = writes == 0 ? latencyNanos : Math.min(minLatencyNanos, latencyNanos);
        maxLatencyNanos = Math.max(maxLatencyNanos, latencyNanos);
        sumLatencyMs += latencyNanos / NANOS_PER_MS;
        writes++;
        ofLoop.written(latencyNanos);
    }

    ConnectionReport report(ConnectionReport.Client client) {
        return new ConnectionReport(
                client,
                waiting,
                received,
                sent,
                lastOperation,
                establishedMs,
                lastXid,
                lastZxid,
                lastResponseMs,
                TimeUnit.NANOSECONDS.toMillis(lastLatencyNanos),
                TimeUnit.NANOSECONDS.toMillis(minLatencyNanos),
                writes == 0 ? 0 : Math.round(sumLatencyMs / writes),
                ConnectionTotals.roundedUpMs(maxLatencyNanos));
    }

    /** ZooKeeper's word for the operation. */
    private static String word(OpCode opCode) {
        return switch (opCode) {
            case PING -> "PING";
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL -> "CREA";
            case DELETE -> "DELE";
            case EXISTS -> "EXIS";
            case GET_DATA -> "GETD";
            case SET_DATA -> "SETD";
            case GET_ACL -> "GETA";
            case SET_ACL -> "SETA";
            case GET_CHILDREN, GET_CHILDREN2 -> "GETC";
            case GET_ALL_CHILDREN_NUMBER -> "GETACN";
            case GET_EPHEMERALS -> "GETE";
            case SYNC -> "SYNC";
            case MULTI -> "MULT";
            case MULTI_READ -> "MLTR";
            case RECONFIG -> "RECO";
            case CLOSE_SESSION -> "CLOS";
            case SET_WATCHES -> "SETW";
            case SET_WATCHES2 -> "STW2";
            case ADD_WATCH -> "ADDW";
            case CHECK_WATCHES -> "CHKW";
            case REMOVE_WATCHES -> "REMW";
            case WHO_AM_I -> "HOMI";
            default -> "NA";
        };
    }
}
