package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.GetChildren;
import io.conclave.session.SessionState;
import java.util.List;

/**
 * The simplest view of a group that is correct: each event of a one-shot watch has the list read again, with the next
 * watch.
 */
final class TextbookView {
    private final Coordinator coordinator;
    private final NodePath path;
    private final boolean repeatsLostReads;
    private volatile List<String> names = List.of();

    /**
     * A view that has not begun.
     *
     * @param repeatsLostReads false for a mistake that authors of views make: a read whose reply was lost has set no
     *     watch, and what has changed is never heard of
     */
    TextbookView(Coordinator coordinator, NodePath path, boolean repeatsLostReads) {
        this.coordinator = coordinator;
        this.path = path;
        this.repeatsLostReads = repeatsLostReads;
    }

    void begin() {
        follow(RecipeAccess.session(coordinator));
    }

    private void follow(RecipeSession on) {
        on.execute(() -> {
            on.onStateChange(state -> {
                if (state == SessionState.LOST) {
                    follow(RecipeAccess.session(coordinator));
                }
            });
            if (on.state() == SessionState.LOST) {
                follow(RecipeAccess.session(coordinator));
            } else {
                read(on);
            }
        });
    }

    private void read(RecipeSession on) {
        on.send(
                GetChildren.of(path).withWatcher(event -> read(on)),
                children -> names = children.names().stream().sorted().toList(),
                cause -> {
                    if (repeatsLostReads && cause instanceof OutcomeUnknownException) {
                        read(on);
                    }
                });
    }

    List<String> names() {
        return names;
    }
}
