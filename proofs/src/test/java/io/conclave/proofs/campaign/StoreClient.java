package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.history.StoreHistory;
import io.conclave.testkit.history.StoreOperation;
import io.conclave.testkit.history.StoreOperation.Kind;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A client that sets, creates, reads and watches through all that happens, a few requests in flight, and records
 * everything. When its session is lost it goes on with the next one. All that it does after its start is on its
 * session's dispatcher.
 */
final class StoreClient implements AutoCloseable {
    private static final int IN_FLIGHT = 4;
    private static final Duration PAUSE = Duration.ofMillis(4);
    private static final Duration SESSION = Duration.ofSeconds(12);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final String name;
    private final StoreHistory history;
    private final Coordinator coordinator;
    private final List<NodePath> registers;
    private final NodePath own;
    private final NodePath sequence;
    private final Random random;
    private final AtomicInteger slots = new AtomicInteger();
    private final AtomicLong answers = new AtomicLong();
    private final AtomicInteger sessionsLost = new AtomicInteger();
    private volatile boolean running = true;
    private volatile @Nullable SessionOperations operations;

    /** A client of the znodes that {@link CampaignRound} has created; it begins at once. */
    StoreClient(
            String name,
            String connectString,
            StoreHistory history,
            List<NodePath> registers,
            NodePath sequence,
            Random random) {
        this.name = name;
        this.history = history;
        this.registers = registers;
        this.own = registers.get(Math.floorMod(name.hashCode(), registers.size()));
        this.sequence = sequence;
        this.random = random;
        coordinator = Coordinator.builder(connectString).sessionTimeout(SESSION).connect();
        coordinator.onStateChange(this::onState);
        onState(SessionState.CONNECTED);
    }

    private synchronized void onState(SessionState state) {
        SessionOperations before = operations;
        RecipeSession session = RecipeAccess.session(coordinator);
        if (state == SessionState.CONNECTED && running && (before == null || before.session != session)) {
            SessionOperations next =
                    new SessionOperations(session, name + "." + (before == null ? 1 : before.number + 1));
            operations = next;
            next.begin();
        }
    }

    /** How many requests were answered. */
    long answers() {
        return answers.get();
    }

    int sessionsLost() {
        return sessionsLost.get();
    }

    /**
     * Submits nothing more, and returns when every request has ended; the last one of a session is a write that was
     * answered, so that all before it are settled.
     */
    void stop() {
        running = false;
        Awaitility.await("the requests of " + name + " to end").atMost(PATIENCE).until(() -> slots.get() == 0);
    }

    @Override
    public void close() {
        running = false;
        coordinator.close();
    }

    static byte[] bytes(long value) {
        return ByteBuffer.allocate(100).putLong(value).array();
    }

    static long valueOf(byte[] data) {
        return data.length < Long.BYTES ? 0 : ByteBuffer.wrap(data).getLong();
    }

    /** One session. */
    private final class SessionOperations {
        private final RecipeSession session;
        private final String sessionName;
        private final int number;
        private boolean isLost; // on the dispatcher
        private boolean isSettled; // on the dispatcher

        SessionOperations(RecipeSession session, String sessionName) {
            this.session = session;
            this.sessionName = sessionName;
            this.number = Integer.parseInt(sessionName.substring(sessionName.lastIndexOf('.') + 1));
        }

        void begin() {
            slots.addAndGet(IN_FLIGHT);
            for (int i = 0; i < IN_FLIGHT; i++) {
                session.execute(this::next);
            }
        }

        private void next() {
            if (isLost) {
                slots.decrementAndGet();
            } else if (running) {
                any();
            } else if (isSettled) {
                slots.decrementAndGet();
            } else {
                set(own);
            }
        }

        private void any() {
            int dice = random.nextInt(100);
            if (dice < 4) {
                create();
            } else if (dice < 60) {
                set(random.nextBoolean() ? own : registers.get(random.nextInt(registers.size())));
            } else {
                read(registers.get(random.nextInt(registers.size())), dice < 75 ? Kind.WATCH : Kind.READ);
            }
        }

        private void set(NodePath path) {
            long value = history.nextValue();
            StoreOperation operation = history.submitted(Kind.SET, sessionName, path.toString(), value);
            boolean settles = !running;
            session.send(
                    SetData.of(path, bytes(value)),
                    stat -> {
                        history.wrote(operation, stat.mzxid(), stat.version());
                        isSettled |= settles;
                        goOn();
                    },
                    failure -> failed(operation, failure));
        }

        private void create() {
            long value = history.nextValue();
            StoreOperation operation = history.submitted(Kind.CREATE, sessionName, sequence.toString(), value);
            session.send(
                    Create.of(sequence.child("n-")).withData(bytes(value)).withMode(CreateMode.PERSISTENT_SEQUENTIAL),
                    answer -> {
                        history.created(
                                operation,
                                answer.path().toString(),
                                answer.stat().czxid());
                        goOn();
                    },
                    failure -> failed(operation, failure));
        }

        private void read(NodePath path, Kind kind) {
            StoreOperation operation = history.submitted(kind, sessionName, path.toString(), 0);
            GetData plain = GetData.of(path);
            session.send(
                    kind == Kind.WATCH ? plain.withWatcher(event -> onEvent(operation, event)) : plain,
                    node -> {
                        history.read(
                                operation,
                                valueOf(node.data()),
                                node.stat().mzxid(),
                                node.stat().version());
                        goOn();
                    },
                    failure -> failed(operation, failure));
        }

        private void onEvent(StoreOperation watch, NodeEvent event) {
            if (event.type() == NodeEvent.Type.DATA_CHANGED) {
                history.fired(watch);
            } else if (event.type() != NodeEvent.Type.WATCH_REMOVED) {
                history.violated(watch + ": event " + event);
            }
        }

        private void goOn() {
            answers.incrementAndGet();
            session.time().schedule(PAUSE, () -> session.execute(this::next));
        }

        private void failed(StoreOperation operation, Throwable failure) {
            if (failure instanceof RefusedException refused) {
                history.refused(operation);
                if (refused.reason() != RefusalReason.NOT_WRITABLE) {
                    history.violated(operation + " was refused: " + failure);
                }
            } else {
                history.unknown(operation);
                if (failure instanceof SessionGoneException && !isLost) {
                    isLost = true;
                    sessionsLost.incrementAndGet();
                    history.lost(sessionName);
                } else if (!(failure instanceof OutcomeUnknownException || failure instanceof SessionGoneException)) {
                    history.violated(operation + " failed: " + failure);
                }
            }
            session.time().schedule(PAUSE, () -> session.execute(this::next));
        }
    }
}
