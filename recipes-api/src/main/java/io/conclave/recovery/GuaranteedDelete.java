package io.conclave.recovery;

import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Deletes the znodes that one owner has in one parent, and does not give up before they are gone or the session is:
 * what stays behind would block others.
 *
 * <p>The znodes are known by their names and the zxid of their creation. Several are deleted in one transaction, so
 * that a waiter for as many is woken once. If the creation was not answered they are not known: then the names in the
 * parent tell, which carry a guid.
 *
 * <p>A request that waits for a connection waits in the session's queue, so trying again does not spin. State belongs
 * to the dispatcher.
 */
public final class GuaranteedDelete {
    private static final long NEVER = -1;

    private final RecipeSession session;
    private final NodePath parent;
    private final Function<List<String>, List<NodePath>> ours;
    private final CompletableFuture<Void> done;
    private List<NodePath> paths = List.of();
    private long czxid;
    private long foundOnConnection = NEVER;

    /**
     * Nothing is sent yet.
     *
     * @param ours picks, of the names of all children of the parent, what is to be deleted
     * @param done is completed when nothing is left; never exceptionally
     */
    public GuaranteedDelete(
            RecipeSession session,
            NodePath parent,
            Function<List<String>, List<NodePath>> ours,
            CompletableFuture<Void> done) {
        this.session = session;
        this.parent = parent;
        this.ours = ours;
        this.done = done;
    }

    /** There is nothing to delete (any more). */
    public void nothingLeft() {
        done.complete(null);
    }

    /** These are all that there are, as of the present connection. */
    public void found(List<NodePath> ourPaths, long ourCzxid) {
        paths = List.copyOf(ourPaths);
        czxid = ourCzxid;
        foundOnConnection = session.connectionNumber();
    }

    /**
     * Deletes what was found, or searches if nothing was. On the connection on which it was found the names say enough.
     * After that somebody may have deleted a znode and made another one of its name, so the creation is compared first.
     */
    public void delete() {
        if (isCertain()) {
            delete(paths);
        } else {
            compareAndDelete();
        }
    }

    /**
     * Deletes the one znode that was found together with another one, in one transaction, which is tried once. If it
     * may not have taken effect, the znode is deleted alone.
     *
     * @param onDeleted told when both are deleted
     * @param onNotDeleted told before the znode is deleted alone
     */
    public void deleteWith(Delete other, Runnable onDeleted, Runnable onNotDeleted) {
        if (paths.size() != 1 || !isCertain()) {
            onNotDeleted.run();
            delete();
            return;
        }
        session.send(
                Multi.of(other, Delete.of(paths.get(0))),
                deleted -> {
                    onDeleted.run();
                    nothingLeft();
                },
                cause -> {
                    onNotDeleted.run();
                    compareAndDelete();
                });
    }

    /**
     * Deletes what several have found, in one transaction; each by itself where that cannot be, or is refused.
     *
     * @param session the session that they have in common
     */
    public static void deleteTogether(RecipeSession session, List<GuaranteedDelete> several) {
        List<GuaranteedDelete> certain = new ArrayList<>();
        for (GuaranteedDelete one : several) {
            if (one.isCertain() && !one.done.isDone()) {
                certain.add(one);
            } else {
                one.delete();
            }
        }
        if (certain.size() < 2) {
            certain.forEach(GuaranteedDelete::delete);
            return;
        }
        session.send(
                deletionOf(certain.stream().flatMap(one -> one.paths.stream())),
                deleted -> certain.forEach(GuaranteedDelete::nothingLeft),
                cause -> certain.forEach(one -> one.onNotDeletedTogether(cause)));
    }

    /** Which of them was refused matters to nobody: each finds out for itself. */
    private void onNotDeletedTogether(Throwable cause) {
        if (cause instanceof RefusedException && !Failures.mayPass(cause)) {
            compareAndDelete();
        } else {
            onFailure(cause, this::compareAndDelete);
        }
    }

    /** Whether the names say enough. */
    private boolean isCertain() {
        return !paths.isEmpty() && foundOnConnection == session.connectionNumber();
    }

    /** Deletes what was found, but only what still has its creation zxid; searches if nothing was found. */
    public void compareAndDelete() {
        if (paths.isEmpty()) {
            search();
        } else {
            compareAndDelete(paths);
        }
    }

    private void delete(List<NodePath> some) {
        if (done.isDone()) {
            return;
        }
        Request<?> request = some.size() == 1 ? Delete.of(some.get(0)) : deletionOf(some.stream());
        session.send(request, deleted -> nothingLeft(), cause -> {
            if (some.size() > 1 && Failures.isNoNode(cause)) {
                compareAndDelete(some); // one is gone, so none was deleted
            } else {
                onFailure(cause, () -> compareAndDelete(some));
            }
        });
    }

    private static Multi deletionOf(Stream<NodePath> paths) {
        return new Multi(paths.<Operation<?>>map(Delete::of).toList());
    }

    private void compareAndDelete(List<NodePath> some) {
        if (done.isDone()) {
            return;
        }
        List<NodePath> present = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        NodePath last = some.get(some.size() - 1);
        for (NodePath path : some) { // answered in order
            session.submit(GetData.of(path)).whenComplete((node, failure) -> {
                if (failure == null) {
                    if (node.stat().czxid() == czxid) {
                        present.add(path);
                    } // else the name was given to another: not ours to delete
                } else if (!Failures.isNoNode(Waiting.cause(failure))) {
                    failures.add(Waiting.cause(failure));
                }
                if (path.equals(last)) {
                    onCompared(some, present, failures);
                }
            });
        }
    }

    private void onCompared(List<NodePath> some, List<NodePath> present, List<Throwable> failures) {
        if (!failures.isEmpty()) {
            onFailure(failures.get(0), () -> compareAndDelete(some));
        } else if (present.isEmpty()) {
            nothingLeft();
        } else {
            delete(List.copyOf(present));
        }
    }

    /** The creation was not answered: finds out by the names whether it took effect, and deletes what there is. */
    public void search() {
        session.readLatest(
                parent,
                GetChildren.of(parent),
                children -> deleteEach(ours.apply(children.names())),
                cause -> onFailure(cause, this::search));
    }

    private void deleteEach(List<NodePath> found) {
        Waiting.all(found.stream().map(path -> session.submit(Delete.of(path)))).whenComplete((all, failure) -> {
            if (failure == null) {
                nothingLeft();
            } else if (found.size() > 1 && Failures.isNoNode(Waiting.cause(failure))) {
                search(); // one is gone; what became of the others is not known from that
            } else {
                onFailure(Waiting.cause(failure), this::search);
            }
        });
    }

    private void onFailure(Throwable cause, Runnable again) {
        Retry.untilGone(
                session, paths.isEmpty() ? "what is ours in " + parent : paths, cause, again, this::nothingLeft);
    }
}
