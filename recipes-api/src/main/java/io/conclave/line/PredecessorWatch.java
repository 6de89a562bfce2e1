package io.conclave.line;

import io.conclave.coordinator.RecipeSession;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.spi.GetData;
import io.conclave.spi.RemoveWatch;
import io.conclave.spi.Watcher;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one watch that a waiting contender has on another's znode; taken away if the contender goes first, so that a line that many give up while one
 * holds does not gather their watches.
 *
 * <p>It is set by a read of the data, which sets nothing on a znode that is gone. State belongs to the dispatcher.
 */
final class PredecessorWatch {
    private final Contender contender;
    private final RecipeSession session;
    private @Nullable Setting setting;

    /** What would stay set on a predecessor who holds for long, if we went without removing it. */
    private record Setting(NodePath path, Watcher watcher) {}

    PredecessorWatch(Contender contender) {
        this.contender = contender;
        this.session = contender.session();
    }

    /**
     * Watches a znode.
     *
     * @param onEvent is told of the one event
     * @param onSet is told what the znode looks like when it is watched
     * @param onFailure is told why there is no watch
     */
    void set(
            NodePath path,
            Consumer<NodeEvent> onEvent,
            Consumer<GetData.NodeData> onSet,
            Consumer<Throwable> onFailure) {
        Watcher watcher = event -> {
            setting = null;
            contender.guarded(() -> onEvent.accept(event));
        };
        contender.send(
                GetData.of(path).withWatcher(watcher),
                node -> {
                    onSet(new Setting(path, watcher));
                    onSet.accept(node);
                },
                onFailure);
    }

    private void onSet(Setting present) {
        setting = present;
        if (!contender.isWaiting()) {
            remove();
        }
    }

    /** Takes the watch away, if one is known to be set. */
    void remove() {
        Setting present = setting;
        setting = null;
        if (present != null && session.state().isLive()) {
            session.send(new RemoveWatch(present.path, present.watcher), removed -> {}, cause -> {
                if (cause instanceof OutcomeUnknownException) {
                    setting = present;
                    remove();
                }
            });
        }
    }
}
