package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.spi.GetChildren;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.SerialExecutor;
import io.conclave.spi.Watcher;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A site through all sessions of its coordinator: watches the site's inbox, and takes up every transaction in it.
 *
 * <p>State belongs to the dispatcher of the session of the time; what other threads ask for is in concurrent sets.
 */
final class JoinedSite extends SessionFollower implements Site {
    private static final Logger LOG = LoggerFactory.getLogger(JoinedSite.class);
    private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

    private final NodePath base;
    private final String name;
    private final Participant participant;
    private final NodePath inbox;
    private final Watcher watcher = event -> list(); // one object, so that setting it again is no second watch
    private final Map<String, SitePart> parts = new HashMap<>(); // by transaction
    private final Map<String, SerialExecutor> calls = new HashMap<>(); // by transaction, through all sessions
    private final Set<SitePart> current = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();

    JoinedSite(Coordinator coordinator, NodePath base, String name, Participant participant) {
        super(coordinator);
        this.base = base;
        this.name = name;
        this.participant = participant;
        this.inbox = TransactionLayout.inbox(base, name);
    }

    @Override
    public String name() {
        return name;
    }

    Participant participant() {
        return participant;
    }

    @Override
    public int openTransactions() {
        return current.size();
    }

    /** Whether the part is still this process's business. Any thread. */
    boolean isCurrent(SitePart part) {
        return current.contains(part) && !closed.get();
    }

    @Override
    void onSession(RecipeSession next) {
        ParentMaker.makePersistent(next, inbox).whenComplete((made, failure) -> {
            if (failure == null) {
                list();
            } else {
                onFailure(next, Waiting.cause(failure), () -> onSession(next));
            }
        });
    }

    private void list() {
        RecipeSession on = session();
        if (!isEnded()) {
            on.send(
                    GetChildren.of(inbox).withWatcher(watcher),
                    entries -> onEntries(on, entries.names()),
                    cause -> onFailure(on, cause, () -> onSession(on)));
        }
    }

    private void onEntries(RecipeSession on, List<String> ids) {
        if (isEnded() || on != session()) {
            return;
        }
        List.copyOf(parts.values()).stream()
                .filter(part -> !ids.contains(part.id()))
                .forEach(this::onFinishedByOthers);
        for (String id : ids) {
            if (!parts.containsKey(id)) {
                take(on, id);
            }
        }
    }

    private void take(RecipeSession on, String id) {
        SerialExecutor executor = calls.computeIfAbsent(
                id,
                transaction -> new SerialExecutor(
                        "participant of " + transaction + " at " + name, on.listenerExecutor(), on.time()));
        SitePart part = new SitePart(this, on, new TransactionLayout(base, id), executor);
        parts.put(id, part);
        current.add(part);
        part.begin();
    }

    private void onFinishedByOthers(SitePart part) {
        part.leave();
        finished(part);
    }

    /** Nothing of the transaction is left to do. */
    void finished(SitePart part) {
        current.remove(part);
        parts.remove(part.id(), part);
        calls.remove(part.id());
        session().metrics().count("commit.finished", inbox.toString());
    }

    private void onFailure(RecipeSession on, Throwable cause, Runnable again) {
        if (isEnded() || cause instanceof SessionGoneException || cause instanceof ClosedException) {
            return; // the session's state tells what follows
        }
        if (cause instanceof OutcomeUnknownException || Refusals.isNoNode(cause)) {
            again.run();
        } else {
            LOG.warn("{}: cannot look for transactions, trying again: {}", this, cause.getMessage());
            on.time().schedule(RETRY_DELAY, () -> on.execute(again));
        }
    }

    @Override
    void onSessionEnded() {
        parts.values().forEach(SitePart::end);
        parts.clear();
        current.clear();
    }

    @Override
    void onClosed() {
        LOG.debug("{}: the coordinator was closed", this);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            execute(() -> {
                if (!isEnded()) {
                    end();
                    parts.values().forEach(SitePart::leave);
                    onSessionEnded();
                    removeWatch();
                }
            });
        }
    }

    private void removeWatch() {
        session().send(new RemoveWatch(inbox, watcher), removed -> {}, cause -> {
            if (cause instanceof OutcomeUnknownException) {
                removeWatch();
            } // else it has fired, or went with its session
        });
    }

    @Override
    public String toString() {
        return "Site[" + name + " at " + base + ", " + current.size() + " open" + (closed.get() ? ", closed]" : "]");
    }
}
