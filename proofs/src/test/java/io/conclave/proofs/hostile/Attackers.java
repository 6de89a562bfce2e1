package io.conclave.proofs.hostile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** The connections of one attack, some for each server; they come again when they are closed. */
final class Attackers implements AutoCloseable {
    private static final int FIRST_ADDRESS = 20;

    private final Attack attack;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong closed = new AtomicLong();
    private volatile boolean stopped;

    Attackers(Attack attack, String run, List<Integer> ports, int connectionsPerServer) {
        this.attack = attack;
        for (int port : ports) {
            for (int i = 0; i < connectionsPerServer; i++) {
                String id = run + "-" + port + "-" + i + "-";
                int address = FIRST_ADDRESS + i;
                start(() -> attack(port, address, id));
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
            try (RawConnection connection = RawConnection.attached(port, address)) {
                Thread drain = new Thread(connection::drain, "attacker-reads");
                drain.setDaemon(true);
                drain.start();
                int first = number;
                while (!stopped && drain.isAlive() && number - first < attack.requestsOfAConnection()) {
                    connection.send(attack.request(id, number - first < 95 ? number - first : number));
                    number++;
                    sent.incrementAndGet();
                }
            } catch (IOException e) {
                closed.incrementAndGet();
            }
            pause();
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

    /** How many requests were sent, and how often a connection was closed by a server. */
    String describe() {
        return sent + " requests sent, " + closed + " connections closed";
    }

    @Override
    public void close() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(5_000);
        }
    }
}
