package io.conclave.line;

import io.conclave.error.ConclaveException;
import io.conclave.error.LossReason;
import io.conclave.error.WaitTimeoutException;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A request for a grant, and then its holder, for the life of one session: what {@link Acquisition} waits for and
 * {@link AbstractGrant} gives to the application. A {@link Contender} is one; a recipe whose grant is more than a place
 * in a line has its own.
 *
 * <p>Everything may be called from any thread, and nothing blocks. What completes does so on the session's dispatcher,
 * or on the thread of another caller of this process whose release brought it about. So what follows a completion must
 * not block.
 */
public interface GrantRequest {
    /** The session that owns what is applied for. */
    RecipeSession session();

    /** Completes when it is granted; exceptionally when it has failed or was abandoned. */
    CompletionStage<?> granted();

    /**
     * Completes when what was granted is no longer held, and why. What was waited for and cannot be held is not lost.
     */
    CompletionStage<LossReason> lost();

    /**
     * Why what was granted is no longer held; empty while it is held. Known as soon as {@link #remaining()} is zero for
     * this reason, which {@link #lost()} tells a moment later.
     */
    default Optional<LossReason> lossReason() {
        return Optional.ofNullable(lost().toCompletableFuture().getNow(null));
    }

    /**
     * Completes when somebody has asked, by a word in its znode, that it give up what it holds or waits for; never
     * exceptionally. Nobody asks for what cannot be held.
     */
    CompletionStage<Void> revocationRequested();

    /**
     * Completes when the store has said that others have to act first: to release it, say, or to come. Not at all if it
     * is granted without that; never exceptionally.
     */
    CompletionStage<Void> mustWait();

    /** Completes when nothing is left at the backend, or the session is gone; never exceptionally. */
    CompletionStage<Void> gone();

    /** How long it is surely held; zero if it is not, or cannot be. */
    default Duration remaining() {
        return Duration.ZERO;
    }

    /** See {@link RecipeSession#deadlineIsStrict}. */
    default boolean deadlineIsStrict() {
        return session().deadlineIsStrict();
    }

    /**
     * Stops waiting, or gives back what was granted. Idempotent.
     *
     * @param why what {@link #granted()} fails with if nothing was granted yet
     * @return {@link #gone()}
     */
    CompletionStage<Void> leave(ConclaveException why);

    /**
     * Stops waiting if nothing was granted yet; what was granted stays, because its holder may rely on it already.
     *
     * @param why what {@link #granted()} fails with if nothing was granted yet
     */
    void giveUpWaiting(ConclaveException why);

    /** What is applied for, as the application names it: the path of the lock, say. */
    default String what() {
        return toString();
    }

    /** What the store is asked, as in "whether /locks/orders is free". */
    default String question() {
        return "whether " + what() + " is free";
    }

    /** What holds for the caller if the store does not answer, and what it can do. */
    default String withoutAnswer() {
        return "Nothing is held; try again later";
    }

    /**
     * What a wait fails with whose time is over: it says what was waited for, and who was in the way as far as that is
     * known.
     *
     * @param waited how long the caller was ready to wait
     */
    default WaitTimeoutException timedOut(Duration waited) {
        return new WaitTimeoutException(
                what(), waited, "Waited for " + what() + " for " + Waiting.text(waited) + ", and it has not come");
    }

    /**
     * Whether others count it as long as its znode is there, as a barrier's participant. Its caller is told that the
     * time is over only when the store has confirmed that it is not counted any more, or has not done so for a second.
     */
    default boolean countsUntilGone() {
        return false;
    }

    /**
     * Its holder means to be told of a loss: whatever may tell of one is watched from now on, if it was not. Never
     * blocks; a request whose holder is told in any case does nothing.
     */
    default void watchForLoss() {}

    /** The time will be over shortly: finds out who is in the way, for {@link #timedOut}, if that is not known. */
    default void timeIsRunningOut() {}
}
