package io.conclave.proofs.faults;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client that writes without a pause, several requests in flight, through all that happens to the server: it numbers
 * what it writes into a znode of its own, and adds sequential znodes to a common parent. Its session must live through
 * everything.
 */
final class LoadWriter implements AutoCloseable {
    static final NodePath SEQUENCE = NodePath.of("/sequence");
    private static final int IN_FLIGHT = 8;
    private static final Duration SESSION = Duration.ofSeconds(30);

    private final String name;
    private final Ledger ledger;
    private final Coordinator coordinator;
    private final NodePath own;
    private final NodePath ephemeral;
    private final RecipeSession session;
    private final Semaphore window = new Semaphore(IN_FLIGHT);
    private final AtomicLong submitted = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private final Thread thread;
    private volatile boolean running = true;
    private volatile long connection;
    private volatile long connectionOfFormerRun = Long.MAX_VALUE;

    LoadWriter(String name, String connectString, Ledger ledger) throws InterruptedException {
        this.name = name;
        this.ledger = ledger;
        this.coordinator =
                Coordinator.builder(connectString).sessionTimeout(SESSION).connect();
        this.own = NodePath.of("/own-" + name);
        this.ephemeral = NodePath.of("/ephemeral-" + name);
        coordinator.execute(Create.of(own).withData(number(0)));
        coordinator.execute(Create.of(ephemeral).withMode(CreateMode.EPHEMERAL));
        this.session = RecipeAccess.session(coordinator);
        coordinator.onStateChange(state -> {
            if (state == SessionState.LOST) {
                ledger.violated(name + ": its session was lost");
            }
        });
        this.thread = new Thread(this::run, "load-" + name);
        thread.start();
    }

    private void run() {
        try {
            while (running) {
                if (submitted.get() % 2 == 0) {
                    window.acquire();
                    addToSequence();
                }
                window.acquire();
                setOwn();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void addToSequence() {
        Create create = Create.of(NodePath.of("/sequence/n-"))
                .withData(number(submitted.get()))
                .withMode(CreateMode.PERSISTENT_SEQUENTIAL);
        session.send(
                create,
                answer -> {
                    ledger.created(name, answer, isNewRun());
                    window.release();
                },
                failure -> failed("create", failure));
    }

    private void setOwn() {
        long value = submitted.incrementAndGet();
        session.send(
                SetData.of(own, number(value)),
                stat -> {
                    acknowledged.set(value);
                    ledger.wrote(name, stat.mzxid(), own + "=" + value, isNewRun());
                    window.release();
                },
                failure -> failed("set", failure));
    }

    /** Only one failure is allowed: that the connection went before the reply. */
    private void failed(String what, Throwable failure) {
        if (!(Waiting.cause(failure) instanceof OutcomeUnknownException) && running) {
            ledger.violated(name + ": " + what + " failed: " + failure);
        }
        window.release();
    }

    /** On the dispatcher, where an answer and the number of its connection belong together. */
    private boolean isNewRun() {
        connection = session.connectionNumber();
        return connection > connectionOfFormerRun;
    }

    /** The server is dead and not yet started again: answers that come over later connections are of its next start. */
    void serverEnded() {
        connectionOfFormerRun = connection;
    }

    long acknowledged() {
        return acknowledged.get();
    }

    /**
     * What must hold whenever the server is back: same session, its ephemeral is there, and its own znode is at least
     * at what was acknowledged.
     */
    void check() throws InterruptedException {
        long atLeast = acknowledged.get();
        ByteBuffer data = ByteBuffer.wrap(coordinator.execute(GetData.of(own)).data());
        long found = data.getLong();
        if (found < atLeast || found > submitted.get()) {
            ledger.violated(name + ": " + own + " is at " + found + ", acknowledged " + atLeast + ", submitted "
                    + submitted.get());
        }
        if (RecipeAccess.session(coordinator) != session) {
            ledger.violated(name + ": session " + session + " has become " + RecipeAccess.session(coordinator));
        }
        NodeStat stat = coordinator.execute(GetData.of(ephemeral)).stat();
        if (stat.ephemeralOwner() != session.id()) {
            ledger.violated(name + ": " + ephemeral + " belongs to " + Long.toHexString(stat.ephemeralOwner()));
        }
    }

    /** Stops writing, and returns when every request has ended. */
    void stop() throws InterruptedException {
        running = false;
        thread.join();
        window.acquire(IN_FLIGHT);
        window.release(IN_FLIGHT);
    }

    NodePath ephemeral() {
        return ephemeral;
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(100).putLong(value).array();
    }

    @Override
    public void close() {
        running = false;
        thread.interrupt();
        coordinator.close();
    }
}
