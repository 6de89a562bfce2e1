package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.JuteReader;
import io.conclave.protocol.MalformedFrameException;
import io.conclave.protocol.ReplyHeader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Queue;
import java.util.function.Function;

/**
 * The requests that were sent on one connection and not yet answered, oldest first; they are answered in order. Belongs
 * to the session's loop.
 */
final class RequestsInFlight implements Iterable<Exchange> {
    private final SessionTicket ticket;
    private final Deque<Exchange> exchanges = new ArrayDeque<>();
    private long added;

    /**
     * None yet.
     *
     * @param ticket told of the changes that answers show
     */
    RequestsInFlight(SessionTicket ticket) {
        this.ticket = ticket;
    }

    boolean isEmpty() {
        return exchanges.isEmpty();
    }

    /** How many were ever added. */
    long added() {
        return added;
    }

    /** How many of these were answered, or have ended otherwise. */
    long ended() {
        return added - exchanges.size();
    }

    @Override
    public Iterator<Exchange> iterator() {
        return exchanges.iterator();
    }

    /** Adds the newest; one that no server answers is answered here when those before it are. */
    void add(Exchange exchange) {
        added++;
        if (exchange.isLocal() && exchanges.isEmpty()) {
            exchange.answeredHere();
        } else {
            exchanges.add(exchange);
        }
    }

    /**
     * Fails all.
     *
     * @param reason makes the failure of a request by its description
     */
    void fail(Function<String, ConclaveException> reason) {
        takeAll().forEach(exchange -> exchange.failed(reason.apply(exchange.describe())));
    }

    /** Ends all, because the connection has gone. */
    void lose(String reason) {
        for (Exchange exchange : takeAll()) {
            if (exchange.isLocal()) {
                exchange.answeredHere();
            } else {
                exchange.connectionLost(reason);
            }
        }
    }

    private Queue<Exchange> takeAll() {
        Queue<Exchange> taken = new ArrayDeque<>(exchanges);
        exchanges.clear();
        return taken;
    }

    /**
     * Answers the oldest.
     *
     * @throws MalformedFrameException if the reply is not that of the oldest
     */
    void answer(ReplyHeader header, JuteReader in) {
        Exchange oldest = exchanges.peek();
        if (oldest == null || oldest.xid() != header.xid()) {
            if (header.err() == ErrorCode.UNIMPLEMENTED.code() && isRefusedAhead(header.xid())) {
                return;
            }
            throw new MalformedFrameException(
                    "xid",
                    header.xid() + " answers "
                            + (oldest == null ? "no request" : "out of turn, next is " + oldest.xid()));
        }
        if (oldest.isBehindWatches()) {
            ticket.replied(header.zxid());
        } else {
            ticket.seen(header.zxid());
        }
        // Removed first: its answer may end the connection, and with it all requests in flight.
        exchanges.remove();
        try {
            oldest.answered(header, in);
        } catch (RuntimeException e) {
            exchanges.addFirst(oldest);
            throw e;
        }
        for (Exchange next = exchanges.peek(); next != null && next.isLocal(); next = exchanges.peek()) {
            exchanges.remove();
            next.answeredHere();
        }
    }

    /** A server answers an unknown kind of request before earlier requests. The answer waits for its turn here. */
    private boolean isRefusedAhead(int xid) {
        for (Exchange exchange : exchanges) {
            if (exchange.xid() == xid && !exchange.isLocal()) {
                exchange.refusedAhead(ErrorCode.UNIMPLEMENTED.code());
                return true;
            }
        }
        return false;
    }
}
