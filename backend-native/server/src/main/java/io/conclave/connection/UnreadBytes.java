package io.conclave.connection;

import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of a server have yet to read, of all connections together, and the long answers that are made for
 * them: all of it is in memory that the links between members use too. A long answer waits while there is much of it;
 * when there is more, the clients that read least are cut. Thread-safe.
 *
 * <p>A client that has read all there was is not in here, and costs nothing.
 */
final class UnreadBytes {
    /** While a long answer waits, one that has taken nothing for so long is cut. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /** While a long answer waits, one that has been behind for so long is cut, though it takes some now and then. */
    static final Duration LONGEST_BEHIND = Duration.ofSeconds(30);

    private final LimitGuard guard;
    private final TimeSource time;
    private final long mostOfClient;
    private final long mostOfAll;
    private final long mostForLong;

    // All below: @GuardedBy("this").
    private final Set<Client> behind = new LinkedHashSet<>();
    private final Deque<Answer> waiting = new ArrayDeque<>();
    private long unread;
    /** How much of that is not sent yet, since its client waits for a long answer. */
    private long held;

    private long beingMade;

    /**
     * The one answer that may grow though there is no room for it: else several that have begun could wait for each
     * other. It is never among those that wait.
     */
    private @Nullable Answer alone;

    private boolean looking;

    UnreadBytes(LimitGuard guard, TimeSource time) {
        this.guard = guard;
        this.time = time;
        this.mostOfClient = guard.limits().most(ClientLimit.UNREAD_BYTES_OF_CONNECTION);
        this.mostOfAll = guard.limits().most(ClientLimit.UNREAD_BYTES);
        this.mostForLong = guard.limits().most(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS);
    }

    /**
     * A client that has read all there was.
     *
     * @param name for the log
     * @param cutOff closes its connection, soon; from any thread
     */
    Client client(Object name, Runnable cutOff) {
        return new Client(name, cutOff);
    }

    /**
     * An answer of which nothing is made yet.
     *
     * @param goOn has it go on after it had to wait, soon; from any thread
     */
    Answer answer(Runnable goOn) {
        return new Answer(goOn);
    }

    /** What one client has yet to read. */
    final class Client {
        private final Object name;
        private final Runnable cutOff;

        /** As it was last told; only its connection's loop uses these. */
        private long toldSent;

        private long toldHeld;

        private volatile boolean cut;

        // All below: @GuardedBy("UnreadBytes.this").
        private long bytes;
        private long heldBytes;
        private long behindSinceNanos;
        private long takenAtNanos;

        private Client(Object name, Runnable cutOff) {
            this.name = name;
            this.cutOff = cutOff;
        }

        /**
         * It has so much to read now. On its connection's loop; costs nothing if that is what it had before.
         *
         * @param sentBytes what it could take
         * @param heldBytes what it is not sent yet
         */
        void has(long sentBytes, long heldBytes) {
            if (sentBytes != toldSent || heldBytes != toldHeld) {
                tell(sentBytes, heldBytes, false);
            }
        }

        /** As {@link #has}, and it has taken some. */
        void hasTaken(long sentBytes, long heldBytes) {
            tell(sentBytes, heldBytes, true);
        }

        private void tell(long sentBytes, long heldBytes, boolean hasTaken) {
            toldSent = sentBytes;
            toldHeld = heldBytes;
            counted(this, sentBytes, heldBytes, hasTaken);
        }

        /** Whether it has taken all that it could; what it has yet to read is not sent. */
        private boolean waitsForUs() {
            return bytes == heldBytes;
        }

        /** Whether it is cut, and counts for nothing any more. From any thread. */
        boolean isCut() {
            return cut;
        }
    }

    /** An answer that is made part by part. */
    final class Answer {
        private final Runnable goOn;

        // @GuardedBy("UnreadBytes.this")
        private long bytes;

        private Answer(Runnable goOn) {
            this.goOn = goOn;
        }

        /**
         * Whether the next part may be made now; if not, it is told later.
         *
         * @param newBytes how many bytes it has by now
         */
        boolean goesOn(long newBytes) {
            return mayGoOn(this, newBytes);
        }

        /** It is with its client, or will not be sent. Idempotent. */
        void end() {
            ended(this);
        }
    }

    private void counted(Client client, long sentBytes, long heldBytes, boolean hasTaken) {
        List<Runnable> actions = new ArrayList<>(0);
        synchronized (this) {
            if (client.cut) {
                return;
            }
            if (client.waitsForUs()) {
                client.behindSinceNanos = time.monotonicNanos();
                client.takenAtNanos = client.behindSinceNanos;
            } else if (hasTaken) {
                client.takenAtNanos = time.monotonicNanos();
            }
            set(client, sentBytes, heldBytes);
            if (client.bytes > mostOfClient) {
                cut(client, ClientLimit.UNREAD_BYTES_OF_CONNECTION, "", actions);
            }
            if (unread > mostOfAll) {
                // somewhat more than needed, so that this is not done again for each next byte
                cutDownTo(mostOfAll - mostOfAll / 8, each -> true, ", and all clients " + unread, actions);
            }
            admitWaiting(actions);
        }
        actions.forEach(Runnable::run);
    }

    private void set(Client client, long sentBytes, long heldBytes) {
        long bytes = sentBytes + heldBytes;
        long more = bytes - client.bytes;
        unread += more;
        held += heldBytes - client.heldBytes;
        guard.unread(more);
        client.bytes = bytes;
        client.heldBytes = heldBytes;
        if (bytes == 0) {
            behind.remove(client);
        } else {
            behind.add(client);
        }
    }

    /**
     * Closes clients until no more than {@code most} bytes are unread: first those with the most to read that took
     * nothing for the longest time.
     */
    private void cutDownTo(long most, Predicate<Client> which, String why, List<Runnable> actions) {
        long now = time.monotonicNanos();
        List<Client> worstFirst = behind.stream()
                .filter(which)
                .sorted(Comparator.comparingDouble((Client client) -> weight(client, now))
                        .reversed())
                .toList();
        for (Client client : worstFirst) {
            if (unread <= most) {
                return;
            }
            cut(client, ClientLimit.UNREAD_BYTES, why, actions);
        }
    }

    private static double weight(Client client, long nowNanos) {
        return client.waitsForUs() ? client.bytes : (double) client.bytes * (nowNanos - client.takenAtNanos + 1);
    }

    private void cut(Client client, ClientLimit limit, String why, List<Runnable> actions) {
        long bytes = client.bytes;
        client.cut = true;
        set(client, 0, 0);
        actions.add(() -> {
            guard.refused(limit, "to keep " + client.name + ": its client has yet to read " + bytes + " bytes" + why);
            client.cutOff.run();
        });
    }

    private boolean mayGoOn(Answer answer, long bytes) {
        synchronized (this) {
            beingMade += bytes - answer.bytes;
            answer.bytes = bytes;
            if (hasRoom(answer)) {
                return true;
            }
            if (alone == answer) {
                alone = null;
                waiting.addFirst(answer);
            } else {
                waiting.addLast(answer);
            }
            lookLater();
        }
        guard.held(ClientLimit.UNREAD_BYTES_FOR_LONG_ANSWERS);
        return false;
    }

    private boolean hasRoom(Answer answer) {
        if (mostForLong - unread >= beingMade) {
            return true;
        }
        // What is held for answers that wait goes only when these have ended.
        if (unread - held > mostForLong || (alone != null && alone != answer)) {
            return false;
        }
        alone = answer;
        return true;
    }

    private void ended(Answer answer) {
        List<Runnable> actions = new ArrayList<>();
        synchronized (this) {
            beingMade -= answer.bytes;
            answer.bytes = 0;
            waiting.remove(answer);
            if (alone == answer) {
                alone = null;
            }
            admitWaiting(actions);
        }
        actions.forEach(Runnable::run);
    }

    private void admitWaiting(List<Runnable> actions) {
        for (Answer next = waiting.peek(); next != null && hasRoom(next); next = waiting.peek()) {
            waiting.remove();
            actions.add(next.goOn);
        }
    }

    private void lookLater() {
        if (!looking) {
            looking = true;
            time.schedule(PATIENCE, this::look);
        }
    }

    /** Makes room for the long answers that wait. */
    private void look() {
        List<Runnable> actions = new ArrayList<>();
        synchronized (this) {
            looking = false;
            if (!waiting.isEmpty() && unread > mostForLong) {
                long now = time.monotonicNanos();
                cutDownTo(
                        mostForLong / 2,
                        client -> !client.waitsForUs()
                                && (now - client.takenAtNanos >= PATIENCE.toNanos()
                                        || now - client.behindSinceNanos >= LONGEST_BEHIND.toNanos()),
                        " and does not, while long answers of others wait (maxUnreadBytesForLongAnswers)",
                        actions);
                admitWaiting(actions);
            }
            if (!waiting.isEmpty()) {
                lookLater();
            }
        }
        actions.forEach(Runnable::run);
    }
}
