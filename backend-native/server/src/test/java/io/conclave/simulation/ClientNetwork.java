package io.conclave.simulation;

import io.conclave.consensus.simulation.VirtualTime;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Connections between clients and servers. Each direction delivers a prefix of what was sent on it, in order, in
 * pieces; where nothing gets through, neither end notices.
 */
final class ClientNetwork {
    /** The client's end. */
    interface Listener {
        void connected();

        void received(byte[] bytes);

        /** Refused, closed by the server, or broken. */
        void closed();
    }

    /** A connection. */
    final class Connection {
        private final int client;
        private final int server;
        private final Listener listener;
        private ServerProcess.ClientEnd end;
        private boolean over;
        private boolean doomedThere;
        private boolean doomedBack;
        private long lastThereUs;
        private long lastBackUs;

        Connection(int client, int server, Listener listener) {
            this.client = client;
            this.server = server;
            this.listener = listener;
        }

        int server() {
            return server;
        }

        void send(byte[] bytes) {
            if (bytes.length > 1 && random.nextInt(10) == 0) {
                int first = 1 + random.nextInt(bytes.length - 1);
                sendPiece(java.util.Arrays.copyOf(bytes, first));
                sendPiece(java.util.Arrays.copyOfRange(bytes, first, bytes.length));
            } else {
                sendPiece(bytes);
            }
        }

        private void sendPiece(byte[] bytes) {
            there(() -> {
                if (end != null) {
                    end.receive(bytes);
                }
            });
        }

        /** The client closes it; nothing is heard from it any more. */
        void close() {
            over = true;
            there(() -> {
                open.remove(this);
                if (end != null) {
                    end.end();
                }
            });
        }

        private void there(Runnable arrival) {
            doomedThere |= isCut(client, server, true);
            if (!doomedThere) {
                lastThereUs = Math.max(lastThereUs, time.nowUs() + delayUs());
                time.after(lastThereUs - time.nowUs(), arrival);
            }
        }

        private void back(Runnable arrival) {
            doomedBack |= isCut(client, server, false);
            if (!doomedBack) {
                lastBackUs = Math.max(lastBackUs, time.nowUs() + delayUs());
                time.after(lastBackUs - time.nowUs(), () -> {
                    if (!over) {
                        arrival.run();
                    }
                });
            }
        }

        private void arriveAtServer() {
            end = machines.get(server).accept("client " + client, new SimulatedChannel.Peer() {
                @Override
                public void sent(byte[] bytes) {
                    byte[] seen = mistake.sent(bytes);
                    back(() -> listener.received(seen));
                }

                @Override
                public void closed() {
                    back(Connection.this::brokenForClient);
                }
            });
            if (end == null) {
                back(this::brokenForClient);
            } else {
                back(listener::connected);
            }
        }

        private void brokenForClient() {
            if (!over) {
                over = true;
                open.remove(this);
                listener.closed();
            }
        }

        /** Both ends learn that it is broken. */
        private void reset() {
            open.remove(this);
            if (end != null) {
                time.after(delayUs(), end::end);
            }
            time.after(delayUs(), this::brokenForClient);
        }
    }

    private final VirtualTime time;
    private final Random random;
    private final Map<Integer, ServerMachine> machines;
    private final Mistake mistake;
    private final List<Connection> open = new ArrayList<>();
    private final Set<String> cuts = new HashSet<>();
    private int usualDelayUs = 300;

    ClientNetwork(VirtualTime time, Random random, Map<Integer, ServerMachine> machines, Mistake mistake) {
        this.mistake = mistake;
        this.time = time;
        this.random = random;
        this.machines = machines;
    }

    void usualDelayUs(int value) {
        usualDelayUs = value;
    }

    private long delayUs() {
        long usual = 20 + random.nextInt(usualDelayUs);
        return random.nextInt(50) == 0 ? 20 * usual : usual;
    }

    Connection connect(int client, int server, Listener listener) {
        Connection connection = new Connection(client, server, listener);
        open.add(connection);
        connection.there(connection::arriveAtServer);
        return connection;
    }

    // ---- faults

    private boolean isCut(int client, int server, boolean there) {
        return !cuts.isEmpty() && cuts.contains(key(client, server, there));
    }

    private static String key(int client, int server, boolean there) {
        return client + (there ? ">" : "<") + server;
    }

    /** Nothing gets through in one direction. */
    void cut(int client, int server, boolean there) {
        cuts.add(key(client, server, there));
    }

    /** What lost something is broken for good. */
    void heal() {
        cuts.clear();
        for (Connection connection : List.copyOf(open)) {
            if (connection.doomedThere || connection.doomedBack) {
                connection.reset();
            }
        }
    }

    /** The process of a server has ended; clients notice later. */
    void ended(int server, int noticedUs) {
        for (Connection connection : List.copyOf(open)) {
            if (connection.server == server) {
                open.remove(connection);
                time.after(random.nextInt(noticedUs), connection::brokenForClient);
            }
        }
    }

    /** Breaks one of the connections. */
    boolean breakOne() {
        if (open.isEmpty()) {
            return false;
        }
        open.get(random.nextInt(open.size())).reset();
        return true;
    }
}
