package io.conclave.recovery;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Creates a persistent znode that others may delete at any time, at most once for each call.
 *
 * <p>A creation whose reply is lost must not simply be sent again: it may have taken effect, and somebody may have
 * deleted the znode since; then the znode would come back although nobody asked for it twice. So the last change among
 * the parent's children is read first. If the reply is lost and the znode is not there, the creation is sent again only
 * if the parent's children have not changed: then it surely had no effect. Otherwise it cannot be told, and the call
 * fails with {@link OutcomeUnknownException}; so it does if it may not look.
 *
 * <p>State belongs to the dispatcher of the session in use.
 */
public final class CreateOnce {
    private static final int MAX_SESSIONS = 100;

    private final Supplier<Optional<RecipeSession>> nextSession;
    private final Create request;
    private final NodePath parent;
    private final Function<RecipeSession, CompletionStage<Void>> parentMaker;
    private final String hint;
    private final CompletableFuture<Boolean> done = new CompletableFuture<>();
    private RecipeSession session;
    private Optional<NodeStat> parentBefore = Optional.empty();
    private boolean maybeCreated;
    private int sessions = 1;

    private CreateOnce(
            RecipeSession session,
            Supplier<Optional<RecipeSession>> nextSession,
            Create request,
            Function<RecipeSession, CompletionStage<Void>> parentMaker,
            String hint) {
        this.session = session;
        this.nextSession = nextSession;
        this.request = request;
        this.parent = request.path().parent().orElse(NodePath.ROOT);
        this.parentMaker = parentMaker;
        this.hint = hint;
    }

    /**
     * Creates the znode on one session. Never blocks; completes on the dispatcher.
     *
     * @param request what to create; its data tells after a lost reply whether a znode that is there is this call's
     * @param parentMaker makes the parent, should it not be there
     * @param hint what the caller should do if the outcome is unknown; the end of the exception's message
     * @return true if this call has created the znode that is there, false if another client has; fails with
     *     {@link OutcomeUnknownException} if the reply was lost, the znode is not there, and others have created or
     *     deleted znodes beside it, or if this look is refused
     */
    public static CompletableFuture<Boolean> create(
            RecipeSession session,
            Create request,
            Function<RecipeSession, CompletionStage<Void>> parentMaker,
            String hint) {
        return new CreateOnce(session, Optional::empty, request, parentMaker, hint).begin();
    }

    /**
     * As {@link #create(RecipeSession, Create, Function, String)}, but if the session is lost it goes on with the
     * coordinator's next one.
     */
    public static CompletableFuture<Boolean> create(
            Coordinator coordinator,
            Create request,
            Function<RecipeSession, CompletionStage<Void>> parentMaker,
            String hint) {
        Supplier<Optional<RecipeSession>> next = () -> Optional.of(RecipeAccess.session(coordinator));
        return new CreateOnce(RecipeAccess.session(coordinator), next, request, parentMaker, hint).begin();
    }

    private CompletableFuture<Boolean> begin() {
        session.execute(this::readParent);
        return done;
    }

    /** An old answer does no harm: it can only make a later look say that something has changed. */
    private void readParent() {
        session.send(
                Exists.of(parent),
                found -> {
                    parentBefore = found;
                    if (found.isPresent()) {
                        create();
                    } else {
                        makeParent();
                    }
                },
                cause -> {
                    if (Failures.is(cause, RefusalReason.NO_AUTH)) {
                        create(); // it may be created without being read; a lost reply is then unknown
                    } else {
                        onFailure(cause, this::readParent);
                    }
                });
    }

    private void makeParent() {
        Waiting.whenDone(
                parentMaker.apply(session),
                made -> session.execute(this::readParent),
                cause -> session.execute(() -> onFailure(cause, this::readParent)));
    }

    private void create() {
        session.send(request, created -> done.complete(true), cause -> {
            if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                done.complete(false);
            } else if (Failures.isNoNode(cause)) {
                makeParent();
            } else {
                maybeCreated = cause instanceof OutcomeUnknownException || cause instanceof SessionGoneException;
                onFailure(cause, this::look);
            }
        });
    }

    private void look() {
        session.send(
                GetData.of(request.path()).linearizable(),
                node -> done.complete(Arrays.equals(node.data(), request.data())),
                cause -> {
                    if (Failures.isNoNode(cause)) {
                        compareParent();
                    } else if (Failures.is(cause, RefusalReason.NO_AUTH)) {
                        done.complete(false); // somebody's whom we do not know
                    } else {
                        onFailure(cause, this::look);
                    }
                });
    }

    /** It is not there: if nothing has come or gone beside it, it never was. */
    private void compareParent() {
        session.send(
                Exists.of(parent).linearizable(),
                found -> {
                    boolean isUnchanged = parentBefore.isPresent()
                            && parentBefore.map(NodeStat::pzxid).equals(found.map(NodeStat::pzxid));
                    if (isUnchanged) {
                        maybeCreated = false;
                        create();
                    } else {
                        done.completeExceptionally(new OutcomeUnknownException("Create " + request.path()
                                + ": the reply was lost, the znode is not there now, and there were changes beside it;"
                                + " either it was created and somebody has deleted it, or it was never created. "
                                + hint));
                    }
                },
                cause -> onFailure(cause, this::compareParent));
    }

    /** Goes on where that is possible: after a lost reply, or on the next session. */
    private void onFailure(Throwable cause, Runnable again) {
        if (cause instanceof OutcomeUnknownException) {
            again.run();
            return;
        }
        Optional<RecipeSession> next =
                cause instanceof SessionGoneException && sessions < MAX_SESSIONS ? nextSession.get() : Optional.empty();
        if (next.isPresent()) {
            sessions++;
            session = next.get();
            session.execute(again);
        } else if (cause instanceof SessionGoneException && maybeCreated) {
            done.completeExceptionally(new SessionGoneException("Create " + request.path()
                    + ": the session was lost; it may have been created before that. " + hint));
        } else if (cause instanceof ClosedException && maybeCreated) {
            done.completeExceptionally(new OutcomeUnknownException("Create " + request.path()
                    + ": the coordinator was closed before it was known whether it was created. " + hint));
        } else if (Failures.mayPass(cause) && maybeCreated) {
            Retry.later(session, cause, again);
        } else if (cause instanceof RefusedException && maybeCreated) {
            done.completeExceptionally(new OutcomeUnknownException(
                    "Create " + request.path() + ": the reply was lost, and it cannot be found out whether it was"
                            + " created: " + cause.getMessage() + ". " + hint,
                    cause));
        } else {
            done.completeExceptionally(cause);
        }
    }
}
