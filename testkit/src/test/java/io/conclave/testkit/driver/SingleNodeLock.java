package io.conclave.testkit.driver;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The simplest lock that is correct, for the driver to be tried on: one ephemeral znode of a fixed name; a client that
 * finds it there waits for its deletion. There is a herd, and no order.
 *
 * <p>Each acquisition also sets the data of the parent, in the same transaction. So a version of the parent belongs to
 * one acquisition, and a release compares and deletes in one step. An acquire whose session is lost goes on with the
 * next one. Mistakes can be planted.
 */
final class SingleNodeLock {
    /** What authors of locks get wrong. */
    enum Mistake {
        /** An interrupted acquire goes, and leaves what it has sent to itself. */
        FORGETS_ITS_NODE_ON_INTERRUPT,
        /** A read whose reply was lost has set no watch; its event is waited for anyway. */
        WAITS_FOR_A_WATCH_THAT_IS_NOT_SET,
        /** The release deletes whatever has that name. */
        RELEASES_BY_NAME
    }

    static final NodePath PARENT = NodePath.of("/single");

    private static final NodePath NODE = PARENT.child("held");

    private final Coordinator coordinator;
    private final Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);

    SingleNodeLock(Coordinator coordinator, List<Mistake> planted) {
        this.coordinator = coordinator;
        mistakes.addAll(planted);
    }

    Held acquire() throws InterruptedException {
        return new Held().acquire();
    }

    /** An attempt, and once it has succeeded what it holds. Of one thread, until it is given out. */
    final class Held implements HeldClaim {
        private final String guid = UUID.randomUUID().toString();
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private RecipeSession session = RecipeAccess.session(coordinator);
        private long czxid;
        private volatile boolean released;

        private Held acquire() throws InterruptedException {
            while (true) {
                try {
                    enter();
                    return this;
                } catch (SessionGoneException gone) {
                    session = RecipeAccess.session(coordinator);
                } catch (InterruptedException e) {
                    if (!mistakes.contains(Mistake.FORGETS_ITS_NODE_ON_INTERRUPT)) {
                        removeOurs();
                    }
                    throw e;
                }
            }
        }

        /** Creates the znode until it is ours. */
        private void enter() throws InterruptedException {
            Create create = Create.of(NODE)
                    .withData(guid.getBytes(StandardCharsets.UTF_8))
                    .withMode(CreateMode.EPHEMERAL);
            while (true) {
                try {
                    await(Multi.of(create, SetData.of(PARENT, new byte[0])));
                } catch (OutcomeUnknownException unknown) {
                    // the outcome is seen below
                } catch (RefusedException occupied) {
                    if (occupied.reason() != RefusalReason.NODE_EXISTS) {
                        throw occupied;
                    }
                }
                if (isOurs()) {
                    return;
                }
            }
        }

        /** Reads the znode, and waits for its deletion if it is another client's. */
        private boolean isOurs() throws InterruptedException {
            CompletableFuture<NodeEvent> event = new CompletableFuture<>();
            try {
                GetData.NodeData found = await(GetData.of(NODE).withWatcher(event::complete));
                if (isOurs(found)) {
                    czxid = found.stat().czxid();
                    event.thenRun(() -> lost.complete(LossReason.NODE_DELETED));
                    onSessionLost(() -> lost.complete(LossReason.SESSION_LOST));
                    return true;
                }
            } catch (RefusedException gone) {
                return false;
            } catch (OutcomeUnknownException unknown) {
                if (!mistakes.contains(Mistake.WAITS_FOR_A_WATCH_THAT_IS_NOT_SET)) {
                    return false;
                }
            }
            Registration registration = onSessionLost(
                    () -> event.completeExceptionally(new SessionGoneException("lost while waiting for " + NODE)));
            try {
                Waiting.await(session, event);
                return false;
            } finally {
                registration.close();
            }
        }

        private boolean isOurs(GetData.NodeData found) {
            return carriesOurGuid(found) && found.stat().ephemeralOwner() == session.id();
        }

        private boolean carriesOurGuid(GetData.NodeData found) {
            return new String(found.data(), StandardCharsets.UTF_8).equals(guid);
        }

        private Registration onSessionLost(Runnable action) {
            Registration registration = session.onStateChange(state -> {
                if (state == SessionState.LOST) {
                    action.run();
                }
            });
            if (session.state() == SessionState.LOST) {
                action.run();
            }
            return registration;
        }

        private <R> R await(Request<R> request) throws InterruptedException {
            return Waiting.await(session, session.submit(request));
        }

        /** Deletes the znode if it is ours, and does not give up before that is sure. */
        private CompletionStage<Void> removeOurs() {
            if (mistakes.contains(Mistake.RELEASES_BY_NAME)) {
                return orAgain(session.submit(Delete.of(NODE)));
            }
            CompletionStage<Optional<NodeStat>> parent = session.submit(Exists.of(PARENT));
            return orAgain(session.submit(GetData.of(NODE))
                    .thenCombine(parent, this::deletion)
                    .thenCompose(deletion -> deletion.isEmpty()
                            ? CompletableFuture.completedFuture(null)
                            : session.submit(deletion.get())));
        }

        /**
         * The parent's version is this acquisition's if it was changed last by the transaction that created the znode.
         */
        private Optional<Multi> deletion(GetData.NodeData found, Optional<NodeStat> parent) {
            return parent.filter(stat -> carriesOurGuid(found)
                            && stat.mzxid() == found.stat().czxid())
                    .map(stat -> Multi.of(new Check(PARENT, stat.version()), Delete.of(NODE)));
        }

        private CompletionStage<Void> orAgain(CompletionStage<?> removal) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            removal.whenComplete((answer, failure) -> {
                if (failure != null && Waiting.cause(failure) instanceof OutcomeUnknownException) {
                    removeOurs().thenRun(() -> done.complete(null));
                } else {
                    done.complete(
                            null); // refused: it is not ours any more. Or the session is gone, and the znode with it
                }
            });
            return done;
        }

        @Override
        public Duration remaining() {
            return released || lost.isDone() ? Duration.ZERO : session.remaining();
        }

        @Override
        public CompletionStage<LossReason> lost() {
            return lost;
        }

        @Override
        public Optional<FencingToken> token() {
            return Optional.of(new FencingToken(session.generation(), czxid));
        }

        @Override
        public void close() {
            // The news of a lost session may be on its way here.
            lost.complete(session.remaining().isZero() ? LossReason.SESSION_LOST : LossReason.RELEASED);
            released = true;
            Waiting.awaitUninterruptibly(session, removeOurs());
        }

        @Override
        public String toString() {
            return "SingleNodeLock[" + guid + "]";
        }
    }
}
