package io.conclave.mirror;

import io.conclave.cache.CachedNode;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recovery.Retry;
import io.conclave.request.AddWatch;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.Sync;
import io.conclave.request.Watcher;
import io.conclave.session.SessionState;
import io.conclave.spi.Capability;
import io.conclave.spi.Elapsed;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads for a mirror during one session.
 *
 * <p>The watch is set first, and the tree is read right behind it, without waiting for an answer. From then on an event
 * of a znode has that znode read (or forgotten). Events and answers come in the order of the tree's states, so when
 * nothing is left to be read, what is known is exactly the state at the last answer; that is when the mirror is
 * updated.
 *
 * <p>With one-shot watches the reads set them, lists are compared with the lists before, and a root that is not there
 * is looked for with a watch. A one-shot watch survives a change of connection and tells what happened meanwhile; a
 * persistent one does not tell, so all is read again.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class MirrorReader {
    private static final Logger LOG = LoggerFactory.getLogger(MirrorReader.class);
    /** So many reads are on their way at a time: enough to hide the way, few enough to leave room for others. */
    private static final int WINDOW = 512;
    /** Answers of so many bytes are awaited at a time, or one: all that others ask for comes behind them. */
    private static final int WINDOW_BYTES = 1 << 20;
    /** How large an answer is taken to be before any has come. */
    private static final int FIRST_BYTES = 64 << 10;
    /** An answer that is smaller than the largest brings the size to reckon with down by this part of it. */
    private static final int FORGETTING = 16;
    /** If there was always something left to be read for so many answers, a state is shown that may mix two. */
    private static final int PATIENCE = 64;

    private final Mirror mirror;
    private final RecipeSession session;
    private final NodePath root;
    private final MirrorScope scope;
    private final boolean transactions;
    private final Watcher watcher = this::onEvent;
    private final Elapsed begun;

    private final Set<Read> waiting = new LinkedHashSet<>();
    private final Map<NodePath, Set<String>> listed = new HashMap<>(); // one-shot watches only
    private final Map<NodePath, RefusedException> leftOut = new HashMap<>(); // may not be read
    private @Nullable Map<NodePath, RefusedException> leftOutCopy; // until it changes: an event would cost all of it
    private Map<NodePath, CachedNode> known = new HashMap<>();
    private Set<NodePath> touched = new HashSet<>();
    private boolean oneShot;
    private boolean loading;
    private boolean loadedBeforeFirstConnection;
    private boolean settlingLater;
    private boolean suspended;
    private boolean ended;
    private int round;
    private int inFlight;
    private int largestBytes = FIRST_BYTES; // of the last answers
    private int toLoad;
    private int postponed; // refused, and to be read later
    private int unshown;

    private enum Kind {
        SYNC,
        WATCH,
        DATA,
        CHILDREN,
        /** Of a root that is not there; or only to know that all of a transaction was heard. */
        LOOK
    }

    /**
     * Something to be read.
     *
     * @param loads whether the state is not complete without it
     */
    private record Read(Kind kind, NodePath path, boolean loads) {}

    MirrorReader(Mirror mirror, RecipeSession session, NodePath root, MirrorScope scope, boolean transactions) {
        this.mirror = mirror;
        this.session = session;
        this.root = root;
        this.scope = scope;
        this.transactions = transactions;
        this.begun = Elapsed.since(mirror.time());
    }

    /** Never blocks. */
    void begin() {
        oneShot = !session.has(Capability.PERSISTENT_WATCHES);
        load();
    }

    void onLiveState(SessionState next) {
        if (ended) {
            return;
        }
        suspended = next == SessionState.SUSPENDED;
        if (suspended) {
            mirror.onStale(this);
        } else if (next == SessionState.CONNECTED) {
            onConnected();
        }
    }

    /** The session has ended. */
    void stop() {
        ended = true;
    }

    private void onConnected() {
        if (loadedBeforeFirstConnection) {
            loadedBeforeFirstConnection = false; // what waited for it is on its way
        } else if (oneShot && !loading) {
            add(Kind.SYNC, root, false); // missed events come before its answer
            send();
        } else {
            session.metrics().count("mirror.reload", root.toString());
            load();
        }
    }

    /** Reads all of it. */
    private void load() {
        round++;
        loading = true;
        loadedBeforeFirstConnection = session.connectionNumber() == 0;
        toLoad = 0;
        postponed = 0;
        waiting.clear();
        known = new HashMap<>();
        leftOut.clear();
        leftOutCopy = null;
        listed.clear();
        add(Kind.SYNC, root, true); // another server, or another session, must not take us back
        if (!oneShot) {
            add(Kind.WATCH, root, true);
        }
        addRoot(true);
        send();
    }

    private void addRoot(boolean loads) {
        add(scope == MirrorScope.CHILDREN ? Kind.CHILDREN : Kind.DATA, root, loads);
    }

    private void add(Kind kind, NodePath path, boolean loads) {
        if (waiting.add(new Read(kind, path, loads)) && loads) {
            toLoad++;
        }
    }

    private void send() {
        if (session.state() == SessionState.SUSPENDED) {
            return; // when it is CONNECTED this is sent, or all is read again
        }
        Iterator<Read> reads = waiting.iterator();
        while (inFlight < window() && reads.hasNext()) {
            Read read = reads.next();
            reads.remove();
            send(read);
        }
    }

    private int window() {
        return Math.max(1, Math.min(WINDOW, WINDOW_BYTES / Math.max(1, largestBytes)));
    }

    private void onSize(int bytes) {
        largestBytes = Math.max(bytes, largestBytes - largestBytes / FORGETTING);
    }

    private void send(Read read) {
        switch (read.kind) {
            case SYNC -> send(read, Sync.of(root), done -> {});
            case WATCH -> send(read, new AddWatch(root, scope != MirrorScope.NODE, watcher), done -> {});
            case DATA -> {
                GetData get = GetData.of(read.path);
                send(read, oneShot ? get.withWatcher(watcher) : get, node -> onData(read, node));
            }
            case CHILDREN -> {
                GetChildren get = GetChildren.of(read.path);
                send(read, oneShot ? get.withWatcher(watcher) : get, children -> onChildren(read, children.names()));
            }
            case LOOK -> {
                Exists look = Exists.of(root);
                send(read, oneShot ? look.withWatcher(watcher) : look, this::onLooked);
            }
        }
    }

    private <R> void send(Read read, Request<R> request, Consumer<R> onAnswer) {
        int current = round;
        inFlight++;
        session.send(
                request,
                answer -> onAnswered(read, current, () -> onAnswer.accept(answer)),
                cause -> onAnswered(read, current, () -> onRefused(read, cause)));
    }

    private void onAnswered(Read read, int sentInRound, Runnable effect) {
        inFlight--;
        if (ended) {
            if (oneShot) {
                session.unwatch(read.path, watcher); // it was on its way when the others were removed
            }
            return;
        }
        if (sentInRound == round) { // what an earlier round asked for is asked for again
            toLoad -= read.loads ? 1 : 0;
            unshown = toLoad > 0 ? 0 : unshown + 1;
            effect.run();
        }
        send();
        settle();
    }

    private void onData(Read read, GetData.NodeData node) {
        onSize(node.bytes().size());
        boolean loads = noMoreLeftOut(read.path) || read.loads; // what is below it was not looked for either
        boolean isNew = known.put(read.path, new CachedNode(read.path, node.bytes(), node.stat())) == null;
        touched.add(read.path);
        // Behind a recursive watch the children of a znode that is new are new as well, and reported.
        boolean lists = oneShot ? isNew || loads : loads && node.stat().numChildren() > 0;
        if (scope == MirrorScope.SUBTREE && lists) {
            add(Kind.CHILDREN, read.path, loads);
        }
    }

    private void onChildren(Read read, List<String> names) {
        onSize(names.stream().mapToInt(String::length).sum());
        if (scope == MirrorScope.CHILDREN) {
            noMoreLeftOut(read.path);
        }
        Set<String> before = oneShot ? listed.put(read.path, new HashSet<>(names)) : null;
        for (String name : names) {
            if (before == null || !before.remove(name)) {
                add(Kind.DATA, read.path.child(name), read.loads);
            }
        }
        if (before != null) {
            before.forEach(gone -> forget(read.path.child(gone)));
        }
    }

    private void onLooked(Optional<NodeStat> stat) {
        if (oneShot && stat.isPresent() && !known.containsKey(root) && !listed.containsKey(root)) {
            addRoot(false);
        }
    }

    private void onRefused(Read read, Throwable cause) {
        if (cause instanceof OutcomeUnknownException) {
            add(read.kind, read.path, read.loads);
        } else if (cause instanceof RefusedException refused) {
            onRefused(read, refused);
        } else if (Failures.isSessionOver(cause)) {
            stop(); // a request may hear of it before the session's state is told: what was not read is not absent
        } else {
            LOG.error("{}: cannot {} {}", mirror, read.kind, read.path, cause);
            later(read, cause);
        }
    }

    private void onRefused(Read read, RefusedException refused) {
        if (refused.reason() == RefusalReason.NO_NODE) {
            forget(read.path);
            if (oneShot && read.path.equals(root)) {
                add(Kind.LOOK, root, read.loads);
            }
        } else if (refused.reason() == RefusalReason.UNSUPPORTED && read.kind == Kind.WATCH) {
            LOG.info("{}: the server has no persistent watches; using one-shot watches", mirror);
            oneShot = true;
            load();
        } else if (refused.reason() == RefusalReason.NO_AUTH && session.isNamespaceThere()) {
            LOG.warn("{}: left out: {}", mirror, refused.getMessage());
            forget(read.path);
            leftOut.put(read.path, refused);
            leftOutCopy = null;
        } else {
            LOG.warn("{}: trying again: {}", mirror, refused.getMessage());
            later(read, refused);
        }
    }

    private void later(Read read, Throwable cause) {
        int current = round;
        toLoad += read.loads ? 1 : 0;
        postponed++;
        boolean comesFirst = read.loads && (read.kind == Kind.SYNC || read.kind == Kind.WATCH);
        Retry.later(session, cause, () -> {
            if (ended || current != round) {
                return;
            }
            if (comesFirst) {
                load(); // what was read without it may be old, or have changed unheard
            } else {
                toLoad -= read.loads ? 1 : 0;
                postponed--;
                add(read.kind, read.path, read.loads);
                send();
            }
        });
    }

    private void onEvent(NodeEvent event) {
        if (ended) {
            return;
        }
        NodePath path = event.path();
        switch (event.type()) {
            case CREATED, DATA_CHANGED -> {
                if (scope.holds(root, path)) {
                    add(Kind.DATA, path, false);
                } else if (oneShot && event.type() == NodeEvent.Type.CREATED) {
                    addRoot(false);
                }
            }
            case DELETED -> onDeleted(path);
            case CHILDREN_CHANGED -> {
                if (oneShot) {
                    add(Kind.CHILDREN, path, false);
                }
            }
            case WATCH_REMOVED -> {}
        }
        send();
        settleLater();
    }

    private void onDeleted(NodePath path) {
        forget(path);
        if (oneShot && path.equals(root)) {
            add(Kind.LOOK, root, false);
        } else if (transactions && waiting.isEmpty() && inFlight == 0) {
            add(Kind.LOOK, root, false); // its answer comes after all that the transaction did
        }
    }

    private boolean noMoreLeftOut(NodePath path) {
        boolean was = leftOut.remove(path) != null;
        if (was) {
            leftOutCopy = null;
        }
        return was;
    }

    /** A znode is gone, and so is all that was below it. */
    private void forget(NodePath path) {
        noMoreLeftOut(path);
        if (known.remove(path) != null) {
            touched.add(path);
        }
        if (oneShot) {
            path.parent().map(listed::get).ifPresent(names -> names.remove(path.name()));
            Set<String> names = listed.remove(path);
            if (names != null) {
                names.forEach(name -> forget(path.child(name)));
            }
        }
    }

    /** Events of one change come one right after the other: what is settled is looked at behind them. */
    private void settleLater() {
        if (!settlingLater && waiting.isEmpty() && inFlight == 0) {
            settlingLater = true;
            session.execute(() -> {
                settlingLater = false;
                settle();
            });
        }
    }

    private void settle() {
        if (ended || toLoad > 0) {
            return;
        }
        boolean settled = waiting.isEmpty() && inFlight == 0 && postponed == 0;
        if (!settled && unshown < PATIENCE) {
            return;
        }
        unshown = 0;
        Iterable<NodePath> different = loading ? mirror.union(known) : touched;
        touched = new HashSet<>();
        if (loading) {
            loading = false;
            session.metrics().duration("mirror.load", root.toString(), Duration.ofNanos(begun.nanos()));
        }
        mirror.onState(this, known, different, settled && !suspended); // an event may be looked at behind the loss
    }

    /** What is there and may not be read; the same map as long as that is the same. On the dispatcher. */
    Map<NodePath, RefusedException> leftOut() {
        Map<NodePath, RefusedException> copy = leftOutCopy;
        if (copy == null) {
            copy = Map.copyOf(leftOut);
            leftOutCopy = copy;
        }
        return copy;
    }

    /** Reads again what may not be read. Never blocks; any thread. */
    void lookAgain() {
        session.execute(() -> {
            if (ended) {
                return;
            }
            for (NodePath path : leftOut.keySet()) {
                if (path.equals(root)) {
                    addRoot(false);
                } else {
                    add(Kind.DATA, path, false);
                }
            }
            send();
        });
    }

    /** The mirror has no readers any more. Never blocks; any thread. */
    void end() {
        session.execute(() -> {
            if (!ended) {
                stop();
                waiting.clear();
                if (oneShot) {
                    Set<NodePath> watched = new HashSet<>(known.keySet());
                    watched.addAll(listed.keySet());
                    watched.add(root);
                    watched.forEach(path -> session.unwatch(path, watcher));
                } else {
                    session.unwatch(root, watcher);
                }
            }
        });
    }

    @Override
    public String toString() {
        return "MirrorReader[" + mirror + " on " + session + "]";
    }
}
