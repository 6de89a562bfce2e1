package io.conclave.recipe;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.spi.Capability;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Creates a znode and whatever parents it lacks; that it is there already is as good.
 *
 * <p>It tries the znode itself first and goes up only as far as it must, so the usual case costs one request.
 */
public final class ParentMaker {
    private final RecipeSession session;
    private final boolean container;

    private ParentMaker(RecipeSession session, boolean container) {
        this.session = session;
        this.container = container;
    }

    /** Makes the path of containers, where the backend has them, so that they go when they are no longer used. */
    public static CompletionStage<Void> makeContainers(RecipeSession session, NodePath path) {
        return new ParentMaker(session, session.has(Capability.CONTAINERS)).make(path);
    }

    /** Makes the path of persistent znodes. */
    public static CompletionStage<Void> makePersistent(RecipeSession session, NodePath path) {
        return new ParentMaker(session, false).make(path);
    }

    private CompletionStage<Void> make(NodePath path) {
        if (path.isRoot()) {
            return CompletableFuture.completedFuture(null);
        }
        CreateMode mode = container ? CreateMode.CONTAINER : CreateMode.PERSISTENT;
        CompletableFuture<Void> made = new CompletableFuture<>();
        Waiting.whenDone(
                session.submit(Create.of(path).withMode(mode)),
                created -> made.complete(null),
                cause -> onFailure(path, cause, made));
        return made;
    }

    private void onFailure(NodePath path, Throwable cause, CompletableFuture<Void> made) {
        if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
            made.complete(null);
        } else if (Failures.isNoNode(cause)) {
            Waiting.forward(makeParent(path, cause).thenCompose(done -> make(path)), made);
        } else if (Failures.is(cause, RefusalReason.UNSUPPORTED) && container) {
            Waiting.forward(makePersistent(session, path), made);
        } else if (mayBeThere(cause)) {
            Waiting.forward(findInstead(path, cause), made);
        } else if (cause instanceof OutcomeUnknownException) {
            Waiting.forward(make(path), made); // creating it twice is as good as once
        } else {
            made.completeExceptionally(cause);
        }
    }

    private CompletionStage<Void> makeParent(NodePath path, Throwable noNode) {
        NodePath parent = path.parent().orElse(NodePath.ROOT);
        if (!parent.isRoot()) {
            return make(parent);
        }
        // Of a root that is not there: the namespace was deleted, and is made again; without one there is nothing to
        // make.
        NodePath base = session.absolute(NodePath.ROOT);
        return base.isRoot() ? CompletableFuture.failedFuture(noNode) : makePersistent(session.atRoot(), base);
    }

    /** Whether the server may have refused a creation without looking whether the znode is there. */
    private static boolean mayBeThere(Throwable cause) {
        return Failures.is(cause, RefusalReason.NO_AUTH) || Failures.is(cause, RefusalReason.NOT_WRITABLE);
    }

    /**
     * It cannot be created, which does not matter if it is there. A lost reply leaves nothing to find out: see read.
     */
    private CompletionStage<Void> findInstead(NodePath path, Throwable refusal) {
        CompletableFuture<Void> found = new CompletableFuture<>();
        session.read(
                Exists.of(path),
                stat -> {
                    if (stat.isPresent()) {
                        found.complete(null);
                    } else {
                        found.completeExceptionally(refusal);
                    }
                },
                found::completeExceptionally);
        return found;
    }
}
