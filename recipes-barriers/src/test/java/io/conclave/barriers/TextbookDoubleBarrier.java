package io.conclave.barriers;

import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.Request;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * A participant of the recipes page's double barrier, step by step as published there and good for one round; for
 * mistakes to be planted in. Of one thread.
 */
final class TextbookDoubleBarrier {
    /** What authors of double barriers get wrong. */
    enum Mistake {
        /** A creation whose reply was lost is made again under another name: one process counts as two. */
        COUNTS_TWICE_AFTER_A_LOST_REPLY,
        /** An interrupted participant leaves without deleting its znode. */
        FORGETS_ITS_NODE_ON_INTERRUPT,
        /** A read whose reply was lost has set no watch; its event is waited for anyway. */
        WAITS_FOR_A_WATCH_THAT_IS_NOT_SET,
        /**
         * A waiter takes every wake-up, a new connection too, for the event that it waits for; it does not read again.
         */
        DOES_NOT_LOOK_AGAIN_WHEN_IT_WAKES
    }

    static final NodePath PATH = NodePath.of("/double-barrier");

    private static final NodePath READY = PATH.child("ready");

    private final RecipeSession session;
    private final int participants;
    private final String rank;
    private final Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);
    private NodePath own;

    TextbookDoubleBarrier(RecipeSession session, int participants, String rank, Mistake... planted) {
        this.session = session;
        this.participants = participants;
        this.rank = rank;
        this.own = newName();
        mistakes.addAll(Arrays.asList(planted));
    }

    private NodePath newName() {
        return PATH.child(rank + "-" + UUID.randomUUID());
    }

    void enter() throws InterruptedException {
        try {
            create();
            if (members().size() >= participants) {
                createOnce(Create.of(READY));
            }
            awaitUntil(READY, true);
        } catch (InterruptedException e) {
            if (!mistakes.contains(Mistake.FORGETS_ITS_NODE_ON_INTERRUPT)) {
                remove();
            }
            throw e;
        }
    }

    private void create() throws InterruptedException {
        while (true) {
            try {
                await(Create.of(own).withMode(CreateMode.EPHEMERAL));
                return;
            } catch (OutcomeUnknownException unknown) {
                if (mistakes.contains(Mistake.COUNTS_TWICE_AFTER_A_LOST_REPLY)) {
                    own = newName();
                }
            } catch (RefusedException e) {
                passIf(RefusalReason.NODE_EXISTS, e); // the guid says that it is ours
                return;
            }
        }
    }

    private void createOnce(Create create) throws InterruptedException {
        while (true) {
            try {
                await(create);
                return;
            } catch (OutcomeUnknownException unknown) {
                // again
            } catch (RefusedException e) {
                passIf(RefusalReason.NODE_EXISTS, e);
                return;
            }
        }
    }

    private static void passIf(RefusalReason reason, RefusedException refused) {
        if (refused.reason() != reason) {
            throw refused;
        }
    }

    /** The lowest waits for the highest, everybody else for the lowest. */
    void leave() throws InterruptedException {
        List<String> members = members();
        while (!members.isEmpty()) {
            boolean isThere = members.contains(own.name());
            boolean isLowest = members.get(0).equals(own.name());
            if (isThere && (!isLowest || members.size() == 1)) {
                remove();
            }
            if (!isLowest) {
                awaitUntil(PATH.child(members.get(0)), false);
            } else if (members.size() > 1) {
                awaitUntil(PATH.child(members.get(members.size() - 1)), false);
            }
            members = members();
        }
    }

    private List<String> members() throws InterruptedException {
        while (true) {
            try {
                return await(GetChildren.of(PATH)).names().stream()
                        .filter(name -> !name.equals(READY.name()))
                        .sorted()
                        .toList();
            } catch (OutcomeUnknownException unknown) {
                // again
            }
        }
    }

    private void awaitUntil(NodePath path, boolean there) throws InterruptedException {
        while (true) {
            CompletableFuture<Boolean> wakes = new CompletableFuture<>();
            try {
                boolean isThere = await(Exists.of(path).withWatcher(event -> wakes.complete(true)))
                        .isPresent();
                if (isThere == there) {
                    return;
                }
                if (there
                        && await(Exists.of(own).withWatcher(event -> wakes.complete(true)))
                                .isEmpty()) {
                    throw new GrantLostException(
                            LossReason.NODE_DELETED, own.toString(), own + " was deleted by another client");
                }
            } catch (OutcomeUnknownException unknown) {
                if (!mistakes.contains(Mistake.WAITS_FOR_A_WATCH_THAT_IS_NOT_SET)) {
                    continue;
                }
            }
            sleepUntil(wakes);
            if (mistakes.contains(Mistake.DOES_NOT_LOOK_AGAIN_WHEN_IT_WAKES)) {
                return;
            }
        }
    }

    private void sleepUntil(CompletableFuture<Boolean> wakes) throws InterruptedException {
        Registration registration = session.onStateChange(state -> {
            if (state == SessionState.LOST) {
                wakes.completeExceptionally(new SessionGoneException("lost while waiting"));
            } else if (mistakes.contains(Mistake.DOES_NOT_LOOK_AGAIN_WHEN_IT_WAKES)) {
                wakes.complete(true);
            }
        });
        try {
            if (session.state() == SessionState.LOST) {
                throw new SessionGoneException("lost before waiting");
            }
            Waiting.await(session, wakes);
        } finally {
            registration.close();
        }
    }

    /** Deletes the own znode, and does not give up before that is sure. */
    void remove() {
        while (true) {
            try {
                Waiting.awaitUninterruptibly(session, session.submit(Delete.of(own)));
                return;
            } catch (OutcomeUnknownException unknown) {
                // again
            } catch (ConclaveException gone) {
                return; // it is not there any more, or its session is not
            }
        }
    }

    private <R> R await(Request<R> request) throws InterruptedException {
        return Waiting.await(session, session.submit(request));
    }
}
