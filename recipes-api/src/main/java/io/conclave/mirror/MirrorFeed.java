package io.conclave.mirror;

import io.conclave.cache.CachedNode;
import io.conclave.cache.MirrorChanges;
import io.conclave.cache.NodeChange;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.SerialExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the changes of a mirror to one listener: one call at a time, and what gathers during a call in one call after
 * it. So a listener that is slow costs no more memory than the mirror.
 *
 * <p>State is guarded by the mirror's lock.
 */
final class MirrorFeed {
    private static final Logger LOG = LoggerFactory.getLogger(MirrorFeed.class);

    private final Mirror mirror;
    private final Consumer<? super MirrorChanges> listener;
    private final SerialExecutor threads;
    // All below: guarded by the mirror's lock.
    private final Map<NodePath, NodeChange> gathered = new TreeMap<>();
    private boolean tellsEvenIfNone;
    private long told;
    private boolean telling;
    private boolean closed;

    MirrorFeed(Mirror mirror, Consumer<? super MirrorChanges> listener, SerialExecutor threads) {
        this.mirror = mirror;
        this.listener = listener;
        this.threads = threads;
    }

    /**
     * The mirror has gone over to its next state; to be called under its lock. Whether {@link #start} is to be called
     * when the lock is free again.
     *
     * @param evenIfNone whether the listener is called though nothing is left of the changes
     */
    boolean gather(List<NodeChange> changes, boolean evenIfNone) {
        tellsEvenIfNone |= evenIfNone;
        for (NodeChange change : changes) {
            NodeChange earlier = gathered.get(change.path());
            NodeChange sum = earlier == null ? change : new NodeChange(change.path(), earlier.before(), change.after());
            if (isAny(sum)) {
                gathered.put(change.path(), sum);
            } else {
                gathered.remove(change.path());
            }
        }
        boolean begins = !telling && !closed;
        telling = true;
        return begins;
    }

    /** Whether there is a difference at all: a znode has come or gone, was created again, or was written. */
    static boolean isAny(NodeChange change) {
        Optional<CachedNode> before = change.before();
        Optional<CachedNode> after = change.after();
        return before.isPresent() != after.isPresent()
                || (before.isPresent()
                        && !isSame(before.get().stat(), after.get().stat()));
    }

    /** A store that began anew gives other changes the zxids of before, but at another time. */
    private static boolean isSame(NodeStat before, NodeStat after) {
        return before.czxid() == after.czxid()
                && before.mzxid() == after.mzxid()
                && before.mtimeMs() == after.mtimeMs();
    }

    void start() {
        threads.execute(this::tell);
    }

    private void tell() {
        for (Optional<MirrorChanges> next = next(); next.isPresent(); next = next()) {
            try {
                listener.accept(next.get());
            } catch (Throwable e) { // Kotlin and Scala code may throw anything
                LOG.error("Listener {} of {} failed", listener, mirror, e);
            }
        }
    }

    private Optional<MirrorChanges> next() {
        return mirror.underLock(number -> {
            @Nullable MirrorChanges next = null;
            // The first state is reported even if it is empty; later ones only if something is left of what has
            // changed.
            if (!closed && number != told && (told == 0 || tellsEvenIfNone || !gathered.isEmpty())) {
                next = new MirrorChanges(number, told, new ArrayList<>(gathered.values()));
                told = number;
            }
            gathered.clear();
            tellsEvenIfNone = false;
            telling = next != null;
            return Optional.ofNullable(next);
        });
    }

    /** To be called under the mirror's lock. */
    void close() {
        closed = true;
        gathered.clear();
    }
}
