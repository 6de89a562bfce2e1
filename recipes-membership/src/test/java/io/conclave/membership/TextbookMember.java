package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The simplest member of a group: an ephemeral znode that has its name; for mistakes to be planted in. It joins again
 * with each session until it leaves.
 */
final class TextbookMember {
    /** What authors of members get wrong. */
    enum Mistake {
        /** A session that was lost takes the member with it for good. */
        DOES_NOT_JOIN_AGAIN,
        /** Leaving deletes whatever has the member's name. */
        LEAVES_BY_NAME,
        /** An interrupted member leaves without deleting its znode. */
        FORGETS_ITS_NODE_ON_INTERRUPT
    }

    static final NodePath GROUP = NodePath.of("/group");

    private static final Duration RETRY_DELAY = Duration.ofMillis(500);
    private static final Duration LOOK_INTERVAL = Duration.ofSeconds(5);

    private final Coordinator coordinator;
    private final NodePath path;
    private final Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);
    private volatile RecipeSession session; // written by one thread at a time
    private boolean left; // @GuardedBy("this")

    TextbookMember(Coordinator coordinator, String name, Mistake... planted) {
        this.coordinator = coordinator;
        this.path = GROUP.child(name);
        this.session = RecipeAccess.session(coordinator);
        mistakes.addAll(Arrays.asList(planted));
    }

    /** Joins; waits for a member that has the name. */
    void join() throws InterruptedException {
        RecipeSession on = session;
        try {
            boolean isOurs = false;
            while (!isOurs) {
                isOurs = tryJoin(on);
            }
        } catch (InterruptedException e) {
            if (!mistakes.contains(Mistake.FORGETS_ITS_NODE_ON_INTERRUPT)) {
                leave();
            }
            throw e;
        }
        follow(on);
    }

    /** Creates the znode, reads what is there then, and waits for a change if that is another member's. */
    private boolean tryJoin(RecipeSession on) throws InterruptedException {
        CompletableFuture<NodeEvent> event = new CompletableFuture<>();
        on.submit(create()); // the read behind it shows the outcome
        try {
            Optional<NodeStat> found =
                    Waiting.await(on, on.submit(Exists.of(path).withWatcher(event::complete)));
            if (found.isPresent() && !isOurs(on, found)) {
                Waiting.await(on, Waiting.atMost(on.time(), LOOK_INTERVAL, event));
            }
            return isOurs(on, found);
        } catch (OutcomeUnknownException e) {
            return false;
        }
    }

    private Create create() {
        return Create.of(path).withMode(CreateMode.EPHEMERAL);
    }

    private static boolean isOurs(RecipeSession on, Optional<NodeStat> found) {
        return found.filter(stat -> stat.ephemeralOwner() == on.id()).isPresent();
    }

    private void follow(RecipeSession on) {
        if (mistakes.contains(Mistake.DOES_NOT_JOIN_AGAIN)) {
            return;
        }
        // on the dispatcher: elsewhere the session may be seen as lost when its listeners are being told already, this
        // one
        // not among them, and the coordinator has no next session yet
        on.execute(() -> {
            on.onStateChange(state -> {
                if (state == SessionState.LOST) {
                    joinAgain();
                }
            });
            if (on.state() == SessionState.LOST) {
                joinAgain();
            }
        });
    }

    private synchronized void joinAgain() {
        RecipeSession next = RecipeAccess.session(coordinator);
        if (next != session && !left) {
            session = next;
            createAgain(next);
            follow(next);
        }
    }

    private synchronized void createAgain(RecipeSession on) {
        if (left) {
            return;
        }
        on.submit(create());
        on.submit(Exists.of(path)).whenComplete((found, failure) -> {
            boolean isUnknown = failure != null && Waiting.cause(failure) instanceof OutcomeUnknownException;
            if (isUnknown || (failure == null && !isOurs(on, found))) {
                on.time().schedule(RETRY_DELAY, () -> createAgain(on)); // our former one may still stand there
            }
        });
    }

    /** Deletes the znode if it is this session's, and does not give up before that is sure. */
    void leave() {
        RecipeSession on;
        synchronized (this) {
            left = true;
            on = session;
        }
        while (true) {
            try {
                if (mistakes.contains(Mistake.LEAVES_BY_NAME)
                        || isOurs(on, Waiting.awaitUninterruptibly(on, on.submit(Exists.of(path))))) {
                    Waiting.awaitUninterruptibly(on, on.submit(Delete.of(path)));
                }
                return;
            } catch (OutcomeUnknownException e) {
                // again
            } catch (SessionGoneException | RefusedException gone) {
                return;
            }
        }
    }

    /** Whether the znode there is this member's. */
    boolean isThere() throws InterruptedException {
        return isOurs(session, Waiting.await(session, session.submit(Exists.of(path))));
    }
}
