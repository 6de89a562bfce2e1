package io.conclave.membership;

import io.conclave.cache.MirrorChanges;
import io.conclave.cache.MirrorState;
import io.conclave.cache.NodeChange;
import io.conclave.coordinator.Coordinator;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A view on a mirror of the group's children. Each listener, and the view itself, adds up the changes for itself;
 * states of one number are the same for all.
 */
final class MirroredView<P> implements GroupView<P> {
    private final Group<P> group;
    private final Mirror mirror;
    private final Object lock = new Object();
    private GroupSnapshot<P> newest = new GroupSnapshot<>(0, new TreeMap<>()); // @GuardedBy("lock")

    MirroredView(Group<P> group, Coordinator coordinator) {
        this.group = group;
        this.mirror = Mirror.of(coordinator, group.path(), MirrorScope.CHILDREN);
        onChange(update -> {}); // keeps the newest state
    }

    /** Adds up the changes for one listener. Used by one thread at a time. */
    private final class Sum implements Consumer<MirrorChanges> {
        private final Consumer<? super GroupUpdate<P>> listener;
        private final SortedMap<String, Member<P>> members = new TreeMap<>();

        Sum(Consumer<? super GroupUpdate<P>> listener) {
            this.listener = Objects.requireNonNull(listener, "listener");
        }

        @Override
        public void accept(MirrorChanges changes) {
            List<Member<P>> joined = new ArrayList<>();
            List<Member<P>> left = new ArrayList<>();
            List<Member<P>> changed = new ArrayList<>();
            for (NodeChange change : changes.changes()) {
                Member<P> before = members.remove(change.path().name());
                change.after().map(group::member).ifPresent(after -> {
                    members.put(after.id(), after);
                    (change.type() == NodeChange.Type.CHANGED ? changed : joined).add(after);
                });
                if (before != null && change.type() != NodeChange.Type.CHANGED) {
                    left.add(before);
                }
            }
            GroupSnapshot<P> snapshot = new GroupSnapshot<>(changes.number(), members);
            remember(snapshot);
            listener.accept(new GroupUpdate<>(snapshot, changes.since(), joined, left, changed));
        }
    }

    private GroupSnapshot<P> remember(GroupSnapshot<P> seen) {
        synchronized (lock) {
            if (seen.number() > newest.number()) {
                newest = seen;
            }
            return newest;
        }
    }

    @Override
    public GroupSnapshot<P> snapshot() {
        synchronized (lock) {
            if (newest.number() == mirror.number()) {
                return newest;
            }
        }
        // The newest state is on its way through a listener thread; a caller need not wait for that.
        MirrorState state = mirror.state();
        SortedMap<String, Member<P>> members = new TreeMap<>();
        state.nodes().values().forEach(node -> members.put(node.path().name(), group.member(node)));
        return remember(new GroupSnapshot<>(state.number(), members));
    }

    @Override
    public boolean isCurrent() {
        return mirror.isCurrent();
    }

    @Override
    public Duration age() {
        return mirror.age();
    }

    @Override
    public CompletableFuture<GroupSnapshot<P>> firstSnapshot() {
        return Waiting.unwrapped(mirror.loaded().thenApply(loaded -> snapshot()));
    }

    @Override
    public GroupSnapshot<P> awaitFirstSnapshot(Duration timeout) throws InterruptedException {
        mirror.awaitLoaded(timeout);
        return snapshot();
    }

    @Override
    public Registration onChange(Consumer<? super GroupUpdate<P>> listener) {
        return mirror.listen(new Sum(listener));
    }

    @Override
    public void close() {
        mirror.close();
    }

    @Override
    public String toString() {
        return "GroupView[" + group.path() + ", " + snapshot() + (isCurrent() ? "" : ", not current") + "]";
    }
}
