package io.conclave.barriers;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.ProcessName;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Makes a latch, and counts, over lost replies: each count makes a znode by which it is known again. State belongs
 * to the session's dispatcher.
 */
final class LatchWrites {
    private final RecipeSession session;
    private final LatchLayout layout;

    LatchWrites(RecipeSession session, LatchLayout layout) {
        this.session = session;
        this.layout = layout;
    }

    /** Counts, once for the znode that names the client. Never blocks; any thread. */
    CompletableFuture<Void> count(NodePath by) {
        Count count = new Count(by);
        session.execute(count::begin);
        return session.onListenerThread("counting " + by, count.done);
    }

    /** One count, of the client that the znode names. */
    private final class Count {
        private final NodePath by;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private long czxid; // of the latch that was found
        private Optional<Throwable> notRepaired = Optional.empty(); // why a part that may be missing was not made

        Count(NodePath by) {
            this.by = by;
        }

        /** Looks at the latch first, so that after a lost reply another one at its path is not taken for it. */
        void begin() {
            session.read(
                    Exists.of(layout.path()).linearizable(),
                    found -> found.ifPresentOrElse(
                            stat -> {
                                czxid = stat.czxid();
                                send();
                            },
                            this::makeLatch),
                    done::completeExceptionally);
        }

        private void send() {
            Multi count = Multi.of(
                    Create.of(by).withData(ProcessName.bytes()),
                    Create.of(layout.nextCount()).withMode(CreateMode.PERSISTENT_SEQUENTIAL));
            session.send(
                    count,
                    results -> {
                        session.metrics().count("latch.count", layout.path().toString());
                        done.complete(null);
                    },
                    cause -> {
                        if (Failures.is(cause, RefusalReason.NODE_EXISTS, 0)) {
                            onNamed(done::completeExceptionally);
                        } else if (cause instanceof OutcomeUnknownException unknown) {
                            findOut(unknown);
                        } else if (Failures.isNoNode(cause)) {
                            notRepaired.ifPresentOrElse(done::completeExceptionally, this::makeLatch);
                        } else {
                            done.completeExceptionally(cause);
                        }
                    });
        }

        /** The name has counted: in this latch, or in one for another count, whose counts are elsewhere. */
        private void onNamed(Consumer<? super Throwable> onNotRead) {
            session.read(
                    Exists.of(layout.counts()),
                    counts -> {
                        if (counts.isPresent()) {
                            done.complete(null);
                        } else {
                            compare(done, () -> done.complete(null), onNotRead);
                        }
                    },
                    onNotRead);
        }

        /** Names are deleted with their latch only: if it is the same one without the name, it has not counted. */
        private void findOut(OutcomeUnknownException unknown) {
            session.read(
                    Exists.of(by).linearizable(),
                    name -> {
                        if (name.isPresent()) {
                            onNamed(cause -> lookAgain(unknown, cause));
                        } else {
                            session.read(
                                    Exists.of(layout.path()).linearizable(),
                                    now -> onNotNamed(now, unknown),
                                    cause -> lookAgain(unknown, cause));
                        }
                    },
                    cause -> lookAgain(unknown, cause));
        }

        private void lookAgain(OutcomeUnknownException unknown, Throwable cause) {
            Retry.lookAgain(
                    session, "Count " + by, unknown, cause, () -> findOut(unknown), done::completeExceptionally);
        }

        private void onNotNamed(Optional<NodeStat> now, OutcomeUnknownException unknown) {
            if (now.filter(stat -> stat.czxid() == czxid).isPresent()) {
                send();
            } else {
                done.completeExceptionally(new OutcomeUnknownException(
                        "Count " + by + ": the reply was lost, and the latch " + layout.path()
                                + " was deleted meanwhile; it may have counted this before. Count again if a latch "
                                + "that was made since should count it as well",
                        unknown));
            }
        }

        private void makeLatch() {
            Waiting.whenDone(
                    make(),
                    made -> {
                        repair(layout.names());
                        repair(layout.counts());
                        begin();
                    },
                    done::completeExceptionally);
        }

        /** Makes a part again, in case it was deleted. */
        private void repair(NodePath part) {
            session.send(Create.of(part), created -> {}, cause -> {
                if (cause instanceof RefusedException && !Failures.isStale(cause)) {
                    notRepaired = Optional.of(cause);
                }
            });
        }
    }

    /**
     * Makes the latch if there is none, and fails with IllegalArgumentException if there is one for another count.
     * Completes on the dispatcher.
     */
    CompletionStage<Void> make() {
        CompletableFuture<Void> made = new CompletableFuture<>();
        session.execute(() -> tryToMake(made));
        return made;
    }

    private void tryToMake(CompletableFuture<Void> made) {
        Multi make = Multi.of(
                Create.of(layout.path()).withData(layout.data()),
                Create.of(layout.names()),
                Create.of(layout.counts()));
        session.send(make, results -> made.complete(null), cause -> {
            if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                compare(made, () -> tryToMake(made), made::completeExceptionally);
            } else if (Failures.is(cause, RefusalReason.NO_AUTH)) {
                compare(made, () -> made.completeExceptionally(cause), made::completeExceptionally);
            } else if (cause instanceof OutcomeUnknownException) {
                tryToMake(made);
            } else if (Failures.isNoNode(cause)) {
                Waiting.whenDone(
                        ParentMaker.makeContainers(
                                session, layout.path().parent().orElse(NodePath.ROOT)),
                        parents -> session.execute(() -> tryToMake(made)),
                        made::completeExceptionally);
            } else {
                made.completeExceptionally(cause);
            }
        });
    }

    private void compare(CompletableFuture<Void> same, Runnable ifGone, Consumer<? super Throwable> onNotRead) {
        session.read(
                GetData.of(layout.path()),
                node -> layout.refusalOf(node.bytes())
                        .ifPresentOrElse(same::completeExceptionally, () -> same.complete(null)),
                Failures.ifNoNode(ifGone, onNotRead));
    }
}
