package io.conclave.mirror;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorChanges;
import io.conclave.cache.MirrorState;
import io.conclave.cache.NodeChange;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.error.RefusedException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.SessionFollower;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import io.conclave.spi.Elapsed;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A copy of a part of the tree that follows it: loaded once, then kept up to date by one persistent watch, or by a
 * one-shot watch on every znode where the server has no persistent ones.
 *
 * <p>Its states are numbered from 1, the first that is complete. Each is a state that the tree had, with every
 * transaction whole or not at all, if it was {@linkplain #ofTransactions asked for}; only where changes come faster
 * than they can be read for a long time states are shown in between that mix two. Intermediate states may be skipped,
 * the latest always comes.
 *
 * <p>While the connection is away the last state stands ({@link #isCurrent} is false then); on the next connection, or
 * on the coordinator's next session, all is read again and the difference becomes the next state. So nothing is missed,
 * and the number goes on.
 *
 * <p>Thread-safe; nothing blocks but what says so. {@code lock} guards the state; nothing blocks while it is held.
 */
public final class Mirror implements Registration {
    private final SessionFollower follower;
    private final NodePath root;
    private final MirrorScope scope;
    private final boolean transactions;
    private final RecipeSession firstSession;
    private final CompletableFuture<Void> loaded = new CompletableFuture<>();
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final NavigableMap<NodePath, CachedNode> nodes = new TreeMap<>();
    private final List<MirrorFeed> feeds = new ArrayList<>();
    private Map<NodePath, RefusedException> leftOut = Map.of();
    private @Nullable MirrorReader reader;
    private long number;
    private boolean current;
    private Elapsed outOfDateSince; // if it is not current
    private boolean closed;

    private Mirror(Coordinator coordinator, NodePath root, MirrorScope scope, boolean transactions) {
        this.follower = new SessionFollower(coordinator, new Reading());
        this.root = Objects.requireNonNull(root, "root");
        this.scope = Objects.requireNonNull(scope, "scope");
        this.transactions = transactions;
        this.firstSession = follower.session();
        this.outOfDateSince = Elapsed.since(firstSession.time());
    }

    /**
     * A mirror of a part of the tree; the root need not exist. It begins to load at once, and goes on until it is
     * closed.
     */
    public static Mirror of(Coordinator coordinator, NodePath root, MirrorScope scope) {
        Mirror mirror = new Mirror(coordinator, root, scope, false);
        mirror.follower.follow();
        return mirror;
    }

    /**
     * As {@link #of}, but a transaction is seen whole or not at all; this costs one small read for deletions that come
     * alone.
     */
    public static Mirror ofTransactions(Coordinator coordinator, NodePath root, MirrorScope scope) {
        Mirror mirror = new Mirror(coordinator, root, scope, true);
        mirror.follower.follow();
        return mirror;
    }

    /** A reader for each session. What was seen last stays until the next session knows better. */
    private final class Reading implements SessionFollower.Work {
        @Override
        public void onSession(RecipeSession session) {
            MirrorReader next = new MirrorReader(Mirror.this, session, root, scope, transactions);
            synchronized (lock) {
                if (closed) {
                    return;
                }
                reader = next;
            }
            next.begin();
        }

        @Override
        public void onLiveState(SessionState state) {
            present().ifPresent(present -> present.onLiveState(state));
        }

        @Override
        public void onSessionEnded() {
            present().ifPresent(MirrorReader::stop);
            synchronized (lock) {
                becomeOutOfDate();
            }
        }

        @Override
        public void onClosed() {
            fail("the coordinator was closed");
        }
    }

    private Optional<MirrorReader> present() {
        synchronized (lock) {
            return Optional.ofNullable(reader);
        }
    }

    /** The znode at a path in the present state; empty if it is not there, or nothing is loaded yet. */
    public Optional<CachedNode> get(NodePath path) {
        synchronized (lock) {
            return Optional.ofNullable(nodes.get(path));
        }
    }

    /** The present state, copied. What may not be read is left out, as if it were not there. */
    public MirrorState state() {
        synchronized (lock) {
            return new MirrorState(number, nodes);
        }
    }

    /**
     * The present state, copied, if nothing is missing in it that is needed. Servers tell nobody that a znode may be
     * read again, or is gone that may not be read; so each refusal has the mirror look again, and its listeners hear of
     * the outcome.
     *
     * @param isNeeded which znodes are
     * @throws RefusedException if there are some that may not be read, naming the first; {@link #state} leaves them out
     */
    public MirrorState wholeState(Predicate<NodePath> isNeeded) {
        RefusedException refusal;
        synchronized (lock) {
            Optional<NodePath> missing =
                    leftOut.keySet().stream().filter(isNeeded).sorted().findFirst();
            if (missing.isEmpty()) {
                return state();
            }
            refusal = Objects.requireNonNull(leftOut.get(missing.get()));
            refusal = new RefusedException(
                    refusal.reason(), "The znode " + missing.get() + " may not be read: " + refusal.getMessage());
        }
        present().ifPresent(MirrorReader::lookAgain);
        throw refusal;
    }

    /** Those of the present state that stand below a path, copied, in the order of their paths. */
    public List<CachedNode> below(NodePath path) {
        List<CachedNode> below = new ArrayList<>();
        synchronized (lock) {
            for (CachedNode node : nodes.tailMap(path, false).values()) {
                if (MirrorScope.isBelow(path, node.path())) {
                    below.add(node);
                } else if (!node.path().toString().startsWith(path.toString())) {
                    break; // "/a-b" stands between "/a" and "/a/b", but nothing else does
                }
            }
        }
        return below;
    }

    /** The number of the present state; 0 while nothing is loaded yet. */
    public long number() {
        synchronized (lock) {
            return number;
        }
    }

    /**
     * Whether the mirror follows the tree now: it is loaded, and the connection has not been away since, or all has
     * been read again.
     */
    public boolean isCurrent() {
        synchronized (lock) {
            return current;
        }
    }

    /**
     * How old the present state may be: zero while it {@linkplain #isCurrent is current}, else the time since it was
     * last known to be, or since the mirror was made if it never was. The connection's loss is noticed some time after
     * the last answer, at the latest when the session's time is over; that time does not count. By the coordinator's
     * clocks, never less than either tells. Never blocks.
     */
    public Duration age() {
        synchronized (lock) {
            return current ? Duration.ZERO : Duration.ofNanos(outOfDateSince.nanos());
        }
    }

    /**
     * Completes on a listener thread when the first state is complete; fails if the mirror or the coordinator is closed
     * before that.
     */
    public CompletableFuture<Void> loaded() {
        return loaded.isDone() ? Waiting.unwrapped(loaded) : firstSession.onListenerThread("loading " + root, loaded);
    }

    /**
     * Waits for the first state. Blocks.
     *
     * @throws IllegalArgumentException if the timeout is negative
     * @throws WaitTimeoutException if it is not complete in time; the mirror goes on loading
     * @throws InterruptedException if the thread is interrupted; likewise
     * @throws ClosedException if the mirror or the coordinator is closed
     */
    public void awaitLoaded(Duration timeout) throws InterruptedException {
        Waiting.checkedTimeout(timeout);
        Waiting.await(
                firstSession,
                loaded,
                timeout,
                () -> new WaitTimeoutException(
                        root.toString(),
                        timeout,
                        "The view of " + root + " was not loaded within " + Waiting.text(timeout) + ": "
                                + firstSession.unlessConnected("the store has not answered everything yet")));
    }

    /**
     * Tells a listener of the present state, as soon as there is one, and of every later one; those that follow each
     * other more quickly than it returns come together. It is called serially on a listener thread and may block; what
     * it throws is logged. If the mirror is closed, it receives nothing. It is called without changes, too, if others
     * may not be read than before ({@link #wholeState}).
     */
    public Registration listen(Consumer<? super MirrorChanges> listener) {
        Objects.requireNonNull(listener, "listener");
        MirrorFeed feed = new MirrorFeed(this, listener, firstSession.listenerThreads("listener of " + root));
        boolean starts = false;
        synchronized (lock) {
            if (closed) {
                return () -> {};
            }
            feeds.add(feed);
            if (number > 0) {
                starts = feed.gather(
                        nodes.values().stream()
                                .map(node -> new NodeChange(node.path(), Optional.empty(), Optional.of(node)))
                                .toList(),
                        false);
            }
        }
        if (starts) {
            feed.start();
        }
        return () -> {
            synchronized (lock) {
                feeds.remove(feed);
                feed.close();
            }
        };
    }

    <T> T underLock(LongFunction<T> action) {
        synchronized (lock) {
            return action.apply(number);
        }
    }

    /**
     * A reader has read a state. On its dispatcher.
     *
     * @param state all of it
     * @param touched what may be different; {@link #union} for everything
     * @param isCurrent whether it is one that the tree had, and the connection has not been lost since
     */
    @SuppressWarnings("ReferenceEquality") // the very same map is not looked through
    void onState(MirrorReader by, Map<NodePath, CachedNode> state, Iterable<NodePath> touched, boolean isCurrent) {
        List<MirrorFeed> starting = new ArrayList<>();
        Map<NodePath, RefusedException> unreadable = by.leftOut();
        boolean first;
        synchronized (lock) {
            if (closed || reader != by) {
                return;
            }
            current |= isCurrent;
            List<NodeChange> changes = adopt(state, touched);
            boolean lacksOthers = leftOut != unreadable && !leftOut.keySet().equals(unreadable.keySet());
            leftOut = unreadable;
            first = number == 0;
            if (!first && changes.isEmpty() && !lacksOthers) {
                return;
            }
            number++;
            for (MirrorFeed feed : feeds) {
                if (feed.gather(changes, lacksOthers)) {
                    starting.add(feed);
                }
            }
        }
        starting.forEach(MirrorFeed::start);
        if (first) {
            loaded.complete(null);
        }
    }

    /** Everything that either state has. */
    Iterable<NodePath> union(Map<NodePath, CachedNode> state) {
        TreeSet<NodePath> union = new TreeSet<>(state.keySet());
        synchronized (lock) {
            union.addAll(nodes.keySet());
        }
        return union;
    }

    private List<NodeChange> adopt(Map<NodePath, CachedNode> state, Iterable<NodePath> touched) {
        List<NodeChange> changes = new ArrayList<>();
        for (NodePath path : touched) {
            CachedNode after = state.get(path);
            CachedNode before = after == null ? nodes.remove(path) : nodes.put(path, after);
            NodeChange change = new NodeChange(path, Optional.ofNullable(before), Optional.ofNullable(after));
            if (MirrorFeed.isAny(change)) {
                changes.add(change);
            }
        }
        return changes;
    }

    /** What is shown may be out of date from now on. On the reader's dispatcher. */
    void onStale(MirrorReader by) {
        synchronized (lock) {
            if (reader == by) {
                becomeOutOfDate();
            }
        }
    }

    private void becomeOutOfDate() { // under the lock
        if (current) {
            outOfDateSince = Elapsed.since(firstSession.time());
        }
        current = false;
    }

    private void fail(String why) {
        if (!loaded.isDone()) {
            loaded.completeExceptionally(new ClosedException("Not loaded: " + why + ": " + this));
        }
    }

    /**
     * Ends it: the watches are removed and no listener is called any more, but for a call that is under way. What was
     * seen last can still be asked for. Idempotent, never blocks.
     */
    @Override
    public void close() {
        MirrorReader last;
        synchronized (lock) {
            closed = true;
            becomeOutOfDate();
            last = reader;
            reader = null;
            feeds.forEach(MirrorFeed::close);
            feeds.clear();
        }
        follower.execute(follower::end);
        if (last != null) {
            last.end();
        }
        fail("it was closed");
    }

    TimeSource time() {
        return firstSession.time();
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "Mirror[" + scope + " " + root + ", state " + number + " with " + nodes.size() + " znodes"
                    + (closed ? ", closed" : current ? "" : number == 0 ? ", loading" : ", out of date") + "]";
        }
    }
}
