package io.conclave.client;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which server is tried when: those of the connect string in random order, one after the other, then those
 * that the ensemble has named; between rounds in which all failed there is a pause that grows to two seconds, with
 * jitter. A server that accepts and closes again within a second counts as failed. A server has its share of the
 * session's timeout. At the first connection, where there are other servers, it has no more than some seconds to
 * answer at all, so that a caller that waits for it comes past one that does not. Owned by the session's event loop.
 */
final class Connector {
    private static final int FIRST_PAUSE_MS = 100;
    private static final int MAX_PAUSE_MS = 2000;
    private static final Duration STABLE = Duration.ofSeconds(1);
    private static final long SHORTEST_ATTEMPT_MS = 250;
    private static final long FIRST_ATTEMPTS_MS = 4_000;

    private final Function<ClientTransport.Server, Connection> newConnection;
    private final ClientTransport transport;
    private final SessionLoop loop;
    private final TimeSource time;
    private final TriedAddresses tried = new TriedAddresses();
    private List<ClientTransport.Server> known = List.of();
    private List<ClientTransport.Server> order = List.of();
    private int next;
    private int failuresInRound;
    private int failedRounds;
    private Duration rest = Duration.ZERO;
    private boolean stopped;
    private int timerNumber;
    private TimeSource.@Nullable Timer timer;

    /**
     * A connector that has tried nothing yet.
     *
     * @param newConnection makes the connection of an attempt, which is not open yet
     */
    Connector(
            SessionLoop loop,
            ClientTransport transport,
            TimeSource time,
            Function<ClientTransport.Server, Connection> newConnection) {
        this.newConnection = newConnection;
        this.transport = transport;
        this.loop = loop;
        this.time = time;
        takeServers();
    }

    /** Those of the connect string first; among these, and among the others, those of the list before in its order. */
    private void takeServers() {
        List<ClientTransport.Server> present = transport.servers();
        if (present == known) {
            return;
        }
        List<String> before = order.stream().map(Object::toString).toList();
        List<ClientTransport.Server> shuffled = new ArrayList<>(present);
        Collections.shuffle(shuffled);
        Comparator<ClientTransport.Server> byPlace = Comparator.comparingInt(server -> {
            int place = before.indexOf(server.toString());
            return place < 0 ? before.size() : place;
        });
        order = shuffled.stream()
                .sorted(Comparator.comparing(ClientTransport.Server::isLearned).thenComparing(byPlace))
                .toList();
        known = present;
        next = next % order.size();
    }

    /**
     * The next round begins with the servers of the connect string, and has the one that has just gone last among its
     * like.
     */
    private void beginRound() {
        List<ClientTransport.Server> rotated = new ArrayList<>(order);
        rotated.add(rotated.remove((next + order.size() - 1) % order.size()));
        rotated.sort(Comparator.comparing(ClientTransport.Server::isLearned)); // stable
        order = List.copyOf(rotated);
        next = 0;
        failuresInRound = 0;
        failedRounds = 0;
    }

    /** Whether all servers have failed one after the other since the last good connection. */
    boolean isRoundOver() {
        return failuresInRound >= order.size();
    }

    /**
     * Tries the next server, after a pause if all have failed or one was asked for.
     *
     * @param isFirst whether the session has had no connection yet
     */
    void connect(Duration sessionTimeout, boolean isFirst) {
        if (stopped) {
            return;
        }
        Duration pause = isRoundOver() ? pause() : rest;
        rest = Duration.ZERO;
        if (pause.isZero()) {
            attempt(sessionTimeout, isFirst);
        } else {
            schedule(pause, () -> attempt(sessionTimeout, isFirst));
        }
    }

    private void attempt(Duration sessionTimeout, boolean isFirst) {
        takeServers();
        ClientTransport.Server server = order.get(next);
        next = (next + 1) % order.size();
        Connection connection = newConnection.apply(server);
        long shareMs = Math.max(SHORTEST_ATTEMPT_MS, sessionTimeout.toMillis() / order.size());
        long answerMs = isFirst && order.size() > 1 ? Math.min(shareMs, longestSilenceMs()) : shareMs;
        Duration restOfShare = Duration.ofMillis(shareMs - answerMs);
        Duration silence = Duration.ofMillis(answerMs);
        schedule(silence, () -> {
            if (connection.openSince() == null || restOfShare.isZero()) {
                connection.openingTakesTooLong(answerMs + " ms");
            } else { // it has answered; to prove who the client is may take longer
                schedule(restOfShare, () -> connection.openingTakesTooLong(shareMs + " ms"));
            }
        });
        server.connect(loop.eventLoop(), connection, silence, tried);
    }

    /** Twice as long in each round, for servers that are slow. */
    private long longestSilenceMs() {
        int round = isRoundOver() ? failedRounds + 1 : failedRounds;
        return FIRST_ATTEMPTS_MS << Math.min(round, 10);
    }

    /** The server has accepted the session: the time bound of the attempt ends. */
    void accepted() {
        cancelTimer();
    }

    /**
     * A connection has served its purpose and is shut: its server is the one to try next.
     *
     * @param pause how long to wait before that
     */
    void served(Duration pause) {
        cancelTimer();
        next = (next + order.size() - 1) % order.size();
        failuresInRound = 0;
        failedRounds = 0;
        rest = pause;
    }

    /** A connection has ended or could not be made. */
    void ended(Connection connection) {
        cancelTimer();
        boolean stable =
                connection.openSince() != null && connection.openSince().nanos() >= STABLE.toNanos();
        if (stable) {
            beginRound();
        } else {
            if (isRoundOver()) {
                failuresInRound = 0;
                failedRounds++;
            }
            failuresInRound++;
        }
    }

    /** Nothing is tried any more. */
    void stop() {
        stopped = true;
        cancelTimer();
    }

    private Duration pause() {
        int round = Math.min(failedRounds, 10);
        long longest = Math.min(MAX_PAUSE_MS, (long) FIRST_PAUSE_MS << round);
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }

    private void schedule(Duration delay, Runnable task) {
        cancelTimer();
        int current = ++timerNumber;
        // A timer that fired just before it was cancelled must do nothing once it reaches the loop.
        timer = time.schedule(
                delay,
                () -> loop.execute(() -> {
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
