package io.conclave.proofs.attacks;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The connections of one attack, some for each server; they come again when they are closed. */
final class Attackers implements AutoCloseable {
    private static final int FIRST_ADDRESS = 20;

    /** A server takes 60 of one address. */
    private static final int CONNECTIONS_OF_ADDRESS = 55;

    /** They open more in a second than a server takes of one address. */
    private static final int GREETERS_OF_ADDRESS = 20;

    private final Attack attack;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong closed = new AtomicLong();
    private final Set<RawConnection> withoutEnd = ConcurrentHashMap.newKeySet();
    private volatile String lastCause = "";
    private volatile boolean stopped;

    Attackers(Attack attack, String run, List<Integer> ports, int connectionsPerServer) {
        this.attack = attack;
        for (int port : ports) {
            for (int i = 0; i < connectionsPerServer; i++) {
                String id = run + "-" + port + "-" + i + "-";
                int address = FIRST_ADDRESS + i;
                if (!attack.completes()) {
                    for (int j = 0; j < CONNECTIONS_OF_ADDRESS; j++) {
                        start(() -> attackWithoutEnd(port, address, id));
                    }
                } else if (attack.opening(0).isPresent()) {
                    for (int j = 0; j < GREETERS_OF_ADDRESS; j++) {
                        int first = j;
                        start(() -> openAndGo(port, address, first));
                    }
                } else if (attack.reads()) {
                    start(() -> attack(port, address, id));
                } else {
                    start(() -> attackUnread(port, address, id));
                }
            }
        }
    }

    private void start(Runnable body) {
        Thread thread = new Thread(body, "attacker");
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    private void attack(int port, int address, String id) {
        int number = 0;
        while (!stopped) {
            try (RawConnection connection = attached(port, address)) {
                Thread drain = new Thread(connection::drain, "attacker-reads");
                drain.setDaemon(true);
                drain.start();
                int first = number;
                while (!stopped && drain.isAlive() && number - first < attack.requestsOfAConnection()) {
                    attack.send(connection, id, number - first < 95 ? number - first : number);
                    number++;
                    sent.incrementAndGet();
                }
            } catch (IOException e) {
                closed(e);
            }
            pause();
        }
    }

    private RawConnection attached(int port, int address) throws IOException {
        return attack.isOverTls()
                ? RawConnection.attachedOverTls(port, address)
                : RawConnection.attached(port, address);
    }

    private void openAndGo(int port, int address, int first) {
        for (int number = first; !stopped; number++) {
            try {
                RawConnection.openAndGo(port, address, attack.opening(number).orElseThrow());
                sent.incrementAndGet();
            } catch (IOException e) {
                closed(e);
            }
            pause();
        }
    }

    /** Each sends little, so that none has to wait for a server that reads nothing more. */
    private void attackUnread(int port, int address, String id) {
        Deque<RawConnection> unread = new ArrayDeque<>();
        while (!stopped) {
            try {
                RawConnection connection = RawConnection.unread(port, address, attack.isOverTls());
                unread.add(connection);
                for (int i = 0; i < attack.requestsOfAConnection(); i++) {
                    attack.send(connection, id, i);
                    sent.incrementAndGet();
                }
            } catch (IOException e) {
                closed(e);
            }
            if (unread.size() >= CONNECTIONS_OF_ADDRESS) {
                close(unread.remove());
            }
            pause();
        }
        unread.forEach(Attackers::close);
    }

    /** Each waits in its socket, or for the server to close it. */
    private void attackWithoutEnd(int port, int address, String id) {
        while (!stopped) {
            try (RawConnection connection = attack.opening(0).isPresent()
                    ? new RawConnection(port, address)
                    : RawConnection.attached(port, address)) {
                withoutEnd.add(connection);
                try {
                    if (!stopped) {
                        if (attack.opening(0).isPresent()) {
                            connection.openWithoutEnd(attack.opening(0).get());
                        } else {
                            connection.sendWithoutEnd(attack.request(id, 0));
                        }
                        sent.incrementAndGet();
                        connection.drain();
                    }
                } finally {
                    withoutEnd.remove(connection);
                }
            } catch (IOException e) {
                closed(e);
            }
            pause();
        }
    }

    private void closed(IOException cause) {
        closed.incrementAndGet();
        lastCause = cause.toString();
    }

    private static void close(RawConnection connection) {
        try {
            connection.close();
        } catch (IOException e) {
            // it is closed, as it should be
        }
    }

    /** Before the next connection, so that a server that refuses connections is not asked in a tight loop. */
    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    int threads() {
        return threads.size();
    }

    /** How many requests were sent, and how often a connection was closed by a server. */
    String describe() {
        return sent + " requests sent, " + closed + " connections closed"
                + (lastCause.isEmpty() ? "" : ": " + lastCause);
    }

    @Override
    public void close() throws InterruptedException {
        stopped = true;
        withoutEnd.forEach(Attackers::close);
        for (Thread thread : threads) {
            thread.join(5_000);
        }
    }
}
