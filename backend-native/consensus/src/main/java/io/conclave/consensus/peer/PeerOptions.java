package io.conclave.consensus.peer;

import io.conclave.consensus.DelayedRunner;
import io.conclave.consensus.JoinTokens;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.PeerTls;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;

/** How a {@link PeerNetwork} is set up. Immutable. */
public final class PeerOptions {
    private static final int KB = 1024;
    private static final int MB = 1024 * KB;
    private static final int HEADROOM_BYTES = 4 * KB;

    private final Builder from;

    private PeerOptions(Builder from) {
        this.from = from.copy();
    }

    /**
     * A builder with the defaults.
     *
     * @param listen where the other members reach this one; port 0 takes a free one
     * @param delayed runs what is to be done later
     * @param background looks host names and join tokens up, which may block
     */
    public static Builder builder(InetSocketAddress listen, DelayedRunner delayed, Executor background) {
        return new Builder(listen, delayed, background);
    }

    /** The least {@code maxFrameBytes} for appends of one batch of this payload and so many entries. */
    public static long frameBytesFor(long payloadBytes, int entries) {
        return payloadBytes + (long) entries * MessageCodec.ENTRY_HEADER_BYTES + HEADROOM_BYTES;
    }

    InetSocketAddress listen() {
        return from.listen;
    }

    DelayedRunner delayed() {
        return from.delayed;
    }

    Executor background() {
        return from.background;
    }

    ThreadFactory threadFactory() {
        return from.threadFactory;
    }

    /** Those of now; a handshake uses the same from its begin to its end. */
    PeerSecrets secrets() {
        return from.secrets.get();
    }

    PeerTls tls() {
        return from.tls;
    }

    JoinTokens joinTokens() {
        return from.joinTokens;
    }

    int electionTimeoutMs() {
        return from.electionTimeoutMs;
    }

    int maxFrameBytes() {
        return from.maxFrameBytes;
    }

    int maxBacklogBytes() {
        return from.maxBacklogBytes;
    }

    int redialMinMs() {
        return from.redialMinMs;
    }

    int redialMaxMs() {
        return from.redialMaxMs;
    }

    boolean nativeTransport() {
        return from.nativeTransport;
    }

    Map<Integer, InetSocketAddress> dialInstead() {
        return from.dialInstead;
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder implements Cloneable {
        private final InetSocketAddress listen;
        private final DelayedRunner delayed;
        private final Executor background;
        private ThreadFactory threadFactory = Builder::daemon;
        private Supplier<PeerSecrets> secrets = () -> PeerSecrets.NONE;
        private PeerTls tls = PeerTls.NONE;
        private JoinTokens joinTokens = JoinTokens.NONE;
        private int electionTimeoutMs = 1000;
        private int maxFrameBytes = 16 * MB;
        private int maxBacklogBytes = 64 * MB;
        private int redialMinMs = 20;
        private int redialMaxMs = 500;
        private boolean nativeTransport = true;
        private Map<Integer, InetSocketAddress> dialInstead = Map.of();

        private Builder(InetSocketAddress listen, DelayedRunner delayed, Executor background) {
            this.listen = listen;
            this.delayed = delayed;
            this.background = background;
        }

        /** As it is now. */
        private Builder copy() {
            try {
                return (Builder) clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }

        private static Thread daemon(Runnable work) {
            Thread thread = new Thread(work, "conclave-member");
            thread.setDaemon(true);
            return thread;
        }

        /** Makes the network's one thread; a daemon called conclave-member by default. */
        public Builder threadFactory(ThreadFactory value) {
            threadFactory = value;
            return this;
        }

        /**
         * What the two ends of each link prove to each other; nothing by default. Asked at each handshake, on the
         * network's thread; must not block.
         */
        public Builder secrets(Supplier<PeerSecrets> value) {
            secrets = value;
            return this;
        }

        /** Whether members speak TLS; they do not by default. */
        public Builder tls(PeerTls value) {
            tls = value;
            return this;
        }

        /** For what the cluster's secret is given to a server that has none; for nothing by default. */
        public Builder joinTokens(JoinTokens value) {
            joinTokens = value;
            return this;
        }

        /** The measure of silence: a link on which nothing comes for three of these is closed; 1,000 ms by default. */
        public Builder electionTimeoutMs(int value) {
            electionTimeoutMs = value;
            return this;
        }

        /** Longest message; 16 MB by default. Must hold the largest append: see {@link #frameBytesFor}. */
        public Builder maxFrameBytes(int value) {
            maxFrameBytes = value;
            return this;
        }

        /** Most bytes that wait for one member to read them; beyond it the link is made anew. 64 MB by default. */
        public Builder maxBacklogBytes(int value) {
            maxBacklogBytes = value;
            return this;
        }

        /** The first and the longest pause between two attempts to reach a member; 20 and 500 ms by default. */
        public Builder redialMs(int min, int max) {
            redialMinMs = min;
            redialMaxMs = max;
            return this;
        }

        /** Whether the kernel's epoll is used where Netty's native part is there (default), or always the JDK's NIO. */
        public Builder nativeTransport(boolean value) {
            nativeTransport = value;
            return this;
        }

        /** Addresses to dial in place of the members' own, by member id: for proxies between members. */
        public Builder dialInstead(Map<Integer, InetSocketAddress> value) {
            dialInstead = Map.copyOf(value);
            return this;
        }

        /**
         * The options.
         *
         * @throws IllegalArgumentException if sizes or times do not fit each other
         */
        public PeerOptions build() {
            require(electionTimeoutMs >= 2, "electionTimeoutMs " + electionTimeoutMs + " must be 2 or more");
            require(
                    maxFrameBytes >= MB + HEADROOM_BYTES,
                    "maxFrameBytes " + maxFrameBytes + " must hold 1 MB and its headers (" + (MB + HEADROOM_BYTES)
                            + ")");
            require(
                    maxBacklogBytes >= maxFrameBytes,
                    "maxBacklogBytes " + maxBacklogBytes + " must hold a frame of maxFrameBytes " + maxFrameBytes);
            require(
                    redialMinMs >= 1 && redialMaxMs >= redialMinMs,
                    "redialMs " + redialMinMs + ", " + redialMaxMs + " must be positive and in order");
            return new PeerOptions(this);
        }

        private static void require(boolean condition, String message) {
            if (!condition) {
                throw new IllegalArgumentException(message);
            }
        }
    }
}
