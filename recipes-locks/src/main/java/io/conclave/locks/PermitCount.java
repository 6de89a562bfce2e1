package io.conclave.locks;

import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The number of permits that lives in a znode: four bytes, big-endian, as Curator's SharedCount has it.
 *
 * @param number how many; a negative number, which only others write, is none
 * @param version the znode's data version
 */
record PermitCount(int number, int version) {
    /** Reads what stands in the znode. */
    static PermitCount parse(NodePath path, GetData.NodeData node) {
        if (node.bytes().size() != Integer.BYTES) {
            throw new RefusedException(
                    RefusalReason.BAD_ARGUMENTS,
                    "Invalid number of permits in " + path + ": it has "
                            + node.bytes().size() + " bytes, but must have four, big-endian");
        }
        return new PermitCount(
                Math.max(0, ByteBuffer.wrap(node.data()).getInt()), node.stat().version());
    }

    static byte[] bytes(int number) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    /** Makes the znode with this number unless it is there, and answers whether it has. Completes on the dispatcher. */
    static CompletionStage<Boolean> makeIfMissing(RecipeSession session, NodePath path, int initial) {
        NodePath parent = path.parent().orElse(NodePath.ROOT);
        return ParentMaker.makeContainers(session, parent)
                .thenCompose(made -> session.submit(Create.of(path).withData(bytes(initial))))
                .thenApply(created -> true)
                .exceptionallyCompose(failure -> Failures.is(Waiting.cause(failure), RefusalReason.NODE_EXISTS)
                        ? CompletableFuture.completedFuture(false)
                        : CompletableFuture.failedFuture(failure));
    }

    /**
     * Sets the number, whatever it was before, and makes the znode if need be. It is written once: another client may
     * have set another number since. Completes on the dispatcher.
     */
    static CompletionStage<Void> set(RecipeSession session, NodePath path, int number) {
        SetData request = SetData.of(path, bytes(number));
        return session.submit(request)
                .exceptionallyCompose(failure -> Failures.isNoNode(Waiting.cause(failure))
                        ? makeIfMissing(session, path, number)
                                .thenCompose(made ->
                                        made ? CompletableFuture.completedFuture(null) : session.submit(request))
                        : CompletableFuture.failedFuture(failure))
                .thenAccept(done -> {});
    }
}
