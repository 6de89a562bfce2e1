package io.conclave.recipe;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.spi.Capability;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

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
        session.submit(Create.of(path).withMode(mode)).whenComplete((created, failure) -> {
            if (failure == null) {
                made.complete(null);
            } else {
                onFailure(path, Waiting.cause(failure), made);
            }
        });
        return made;
    }

    private void onFailure(NodePath path, Throwable cause, CompletableFuture<Void> made) {
        if (cause instanceof RefusedException refused && refused.reason() == RefusalReason.NODE_EXISTS) {
            made.complete(null);
        } else if (cause instanceof RefusedException refused && refused.reason() == RefusalReason.NO_NODE) {
            forward(makeParent(path, refused).thenCompose(done -> make(path)), made);
        } else if (cause instanceof RefusedException refused
                && refused.reason() == RefusalReason.UNSUPPORTED
                && container) {
            forward(makePersistent(session, path), made);
        } else if (cause instanceof RefusedException refused && mayBeThere(refused)) {
            forward(findInstead(path, refused), made);
        } else if (cause instanceof OutcomeUnknownException) {
            forward(make(path), made); // creating it twice is as good as once
        } else {
            made.completeExceptionally(cause);
        }
    }

    private CompletionStage<Void> makeParent(NodePath path, RefusedException refused) {
        NodePath parent = path.parent().orElse(NodePath.ROOT);
        if (!parent.isRoot()) {
            return make(parent);
        }
        // Of a root that is not there: the namespace was deleted, and is made again; without one there is nothing to
        // make.
        NodePath base = session.absolute(NodePath.ROOT);
        return base.isRoot() ? CompletableFuture.failedFuture(refused) : makePersistent(session.atRoot(), base);
    }

    /** Whether the server may have refused a creation without looking whether the znode is there. */
    private static boolean mayBeThere(RefusedException refused) {
        return refused.reason() == RefusalReason.NO_AUTH || refused.reason() == RefusalReason.NOT_WRITABLE;
    }

    /**
     * It cannot be created, which does not matter if it is there. A lost reply leaves nothing to find out: see read.
     */
    private CompletionStage<Void> findInstead(NodePath path, RefusedException refused) {
        CompletableFuture<Void> found = new CompletableFuture<>();
        session.read(
                Exists.of(path),
                stat -> complete(found, stat.isPresent() ? null : refused),
                cause -> complete(found, cause));
        return found;
    }

    private static void forward(CompletionStage<Void> from, CompletableFuture<Void> to) {
        from.whenComplete((done, failure) -> complete(to, failure));
    }

    private static void complete(CompletableFuture<Void> stage, @Nullable Throwable failure) {
        if (failure == null) {
            stage.complete(null);
        } else {
            stage.completeExceptionally(Waiting.cause(failure));
        }
    }
}
