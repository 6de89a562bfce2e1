package io.conclave.commit;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.recovery.SessionFollower;
import io.conclave.request.GetChildren;
import io.conclave.request.Watcher;
import io.conclave.spi.SerialExecutor;
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
 * <p>A participant that was asked to prepare is told the decision, also if another process of the site finishes the
 * transaction while this one is without a session.
 *
 * <p>State belongs to the dispatcher of the current session; what other threads ask for is in concurrent sets.
 */
final class JoinedSite implements Site, SessionFollower.Work {
    private static final Logger LOG = LoggerFactory.getLogger(JoinedSite.class);

    private final SessionFollower follower;
    private final NodePath base;
    private final String name;
    private final Participant participant;
    private final NodePath inbox;
    private final Watcher watcher = event -> list();
    private final Map<String, ParticipantTransaction> parts = new HashMap<>(); // by transaction
    private final Map<String, SerialExecutor> calls = new HashMap<>(); // by transaction, through all sessions
    /** To prepare, and not told the decision; by transaction, through all sessions. */
    private final Map<String, TransactionPart> asked = new ConcurrentHashMap<>();

    private final Set<ParticipantTransaction> current = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean closed = new AtomicBoolean();

    JoinedSite(Coordinator coordinator, NodePath base, String name, Participant participant) {
        this.follower = new SessionFollower(coordinator, this);
        this.base = base;
        this.name = name;
        this.participant = participant;
        this.inbox = TransactionLayout.inbox(base, name);
    }

    /** Begins to take part. Never blocks; any thread. */
    void begin() {
        follower.follow();
    }

    @Override
    public String name() {
        return name;
    }

    Participant participant() {
        return participant;
    }

    /** Whether the part is still this process's business. Any thread. */
    boolean isCurrent(ParticipantTransaction part) {
        return current.contains(part) && !closed.get();
    }

    @Override
    public void onSession(RecipeSession next) {
        Waiting.whenDone(
                ParentMaker.makePersistent(next, inbox),
                made -> list(),
                cause -> onFailure(next, cause, () -> onSession(next)));
    }

    private void list() {
        RecipeSession on = follower.session();
        if (!follower.isEnded()) {
            on.send(
                    GetChildren.of(inbox).withWatcher(watcher),
                    entries -> onEntries(on, entries.names()),
                    cause -> onFailure(on, cause, () -> onSession(on)));
        }
    }

    private void onEntries(RecipeSession on, List<String> ids) {
        if (!follower.isCurrent(on)) {
            return;
        }
        Set<String> listed = Set.copyOf(ids);
        List.copyOf(parts.values()).stream()
                .filter(part -> !listed.contains(part.id()))
                .forEach(ParticipantTransaction::finishedByOthers);
        ids.forEach(id -> takeIfNew(on, id, true));
        asked.keySet().forEach(id -> takeIfNew(on, id, false)); // finished by others while there was no session
        forgetCalls(listed);
    }

    /**
     * Of transactions whose end took effect as the session was lost. Each behind its last call, which may be under way
     * yet: none begins beside it, should the list be behind what a former session has seen.
     */
    private void forgetCalls(Set<String> listed) {
        calls.forEach((id, executor) -> {
            if (!listed.contains(id) && !parts.containsKey(id)) {
                executor.execute(() -> follower.execute(() -> {
                    if (!parts.containsKey(id)) {
                        calls.remove(id, executor);
                    }
                }));
            }
        });
    }

    /** Whether nothing is kept of any transaction. On the dispatcher. */
    boolean isIdle() {
        return parts.isEmpty() && calls.isEmpty() && asked.isEmpty() && current.isEmpty();
    }

    private void takeIfNew(RecipeSession on, String id, boolean isOpen) {
        if (parts.containsKey(id)) {
            return;
        }
        SerialExecutor executor = calls.computeIfAbsent(
                id, transaction -> on.listenerThreads("participant of " + transaction + " at " + name));
        ParticipantTransaction part = new ParticipantTransaction(
                this,
                on,
                new TransactionLayout(base, id),
                executor,
                isOpen,
                asked.getOrDefault(id, new TransactionPart(id, name, new byte[0])));
        parts.put(id, part);
        current.add(part);
        part.begin();
    }

    /** This process must tell its participant the decision, also if another process finishes the transaction. */
    void asks(TransactionPart transaction) {
        asked.put(transaction.id(), transaction);
    }

    /** The participant was told the decision. Any thread. */
    void told(TransactionPart transaction) {
        asked.remove(transaction.id());
    }

    boolean hasAsked(TransactionPart transaction) {
        return asked.containsKey(transaction.id());
    }

    /** Nothing of the transaction is left to do. */
    void finished(ParticipantTransaction part) {
        asked.remove(part.id());
        current.remove(part);
        parts.remove(part.id(), part);
        calls.remove(part.id());
        follower.session().metrics().count("commit.finished", inbox.toString());
    }

    private void onFailure(RecipeSession on, Throwable cause, Runnable again) {
        if (follower.isEnded()) {
            return;
        }
        if (Failures.isNoNode(cause)) {
            again.run(); // which makes it first
        } else {
            Retry.always(on, this, cause, again);
        }
    }

    @Override
    public void onSessionEnded() {
        parts.values().forEach(ParticipantTransaction::end);
        parts.clear();
        current.clear();
    }

    @Override
    public void onClosed() {
        LOG.debug("{}: the coordinator was closed", this);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            follower.execute(() -> {
                if (!follower.isEnded()) {
                    follower.end();
                    parts.values().forEach(ParticipantTransaction::leave);
                    onSessionEnded();
                    follower.session().unwatch(inbox, watcher);
                }
            });
        }
    }

    @Override
    public String toString() {
        return "Site[" + name + " at " + base + ", " + current.size() + " open" + (closed.get() ? ", closed]" : "]");
    }
}
