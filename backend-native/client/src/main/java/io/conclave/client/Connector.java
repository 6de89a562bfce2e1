package io.conclave.client;

import io.conclave.time.TimeSource;
import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which server is tried when: the servers in random order, one after the other; between rounds in which all failed a pause that grows to two seconds,
 * with jitter. A server that accepts and closes again within a second counts as failed. Owned by the session's event loop.
 */
final class Connector {
    private static final int FIRST_PAUSE_MS = 100;
    private static final int MAX_PAUSE_MS = 2000;
    private static final Duration STABLE = Duration.ofSeconds(1);
    private static final Duration SHORTEST_ATTEMPT = Duration.ofMillis(250);

    private final SessionMachine session;
    private final Transport transport;
    private final EventLoop loop;
    private final TimeSource time;
    private final List<Integer> order = new ArrayList<>();
    private int next;
    private int failures;
    private boolean stopped;
    private int timerNumber;
    private TimeSource.@Nullable Timer timer;

    Connector(SessionMachine session, Transport transport, EventLoop loop, TimeSource time) {
        this.session = session;
        this.transport = transport;
        this.loop = loop;
        this.time = time;
        for (int server = 0; server < transport.serverCount(); server++) {
            order.add(server);
        }
        Collections.shuffle(order);
    }

    /** Whether all servers have failed one after the other since the last good connection. */
    boolean isRoundOver() {
        return failures > 0 && failures % order.size() == 0;
    }

    /** Tries the next server, after a pause if all have failed. */
    void connect(Duration sessionTimeout) {
        if (stopped) {
            return;
        }
        if (isRoundOver()) {
            schedule(pause(), () -> attempt(sessionTimeout));
        } else {
            attempt(sessionTimeout);
        }
    }

    private void attempt(Duration sessionTimeout) {
        int server = order.get(next);
        next = (next + 1) % order.size();
        Connection connection = new Connection(session, transport.describe(server));
        Duration share = sessionTimeout.dividedBy(order.size());
        Duration bound = share.compareTo(SHORTEST_ATTEMPT) < 0 ? SHORTEST_ATTEMPT : share;
        schedule(bound, () -> connection.shut("no answer within " + bound.toMillis() + " ms"));
        session.onAttempt(connection);
        transport.connect(loop, server, connection);
    }

    /** The server has accepted the session: the time bound of the attempt ends. */
    void accepted() {
        cancelTimer();
    }

    /** A connection has ended or could not be made. */
    void ended(Connection connection) {
        cancelTimer();
        boolean stable =
                connection.openSince() != null && connection.openSince().nanos() >= STABLE.toNanos();
        failures = stable ? 0 : failures + 1;
    }

    /** Nothing is tried any more. */
    void stop() {
        stopped = true;
        cancelTimer();
    }

    private Duration pause() {
        int round = Math.min(failures / order.size() - 1, 10);
        long longest = Math.min(MAX_PAUSE_MS, (long) FIRST_PAUSE_MS << round);
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }

    private void schedule(Duration delay, Runnable task) {
        cancelTimer();
        int current = ++timerNumber;
        // A timer that fired just before it was cancelled must do nothing once it reaches the loop.
        timer = time.schedule(
                delay,
                () -> session.onLoop(() -> {
                    if (current == timerNumber) {
                        task.run();
                    }
                }));
    }

    private void cancelTimer() {
        TimeSource.Timer waiting = timer;
        timer = null;
        timerNumber++;
        if (waiting != null) {
            waiting.cancel();
        }
    }
}
