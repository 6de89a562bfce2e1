package io.conclave.kotlin

import io.conclave.error.GrantLostException
import io.conclave.error.LossReason
import io.conclave.grant.Acquirable
import io.conclave.grant.Grant
import java.util.concurrent.CompletionException
import java.util.concurrent.Future
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.future.await
import kotlinx.coroutines.isActive
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * Acquires, runs the block while the grant is held, and gives it back. For everything that is [Acquirable]: a mutex,
 * either half of a shared lock, a multi-lock, a permit of a semaphore. The block runs in the caller's context; no
 * thread is blocked.
 *
 * - **Cancelled while it waits**: nothing stays in the line, and what was granted at that moment is given back.
 * - **Cancelled while the block runs**: the block is cancelled, and the grant is given back.
 * - **The grant is lost while the block runs** (its session is gone, it was revoked, its znode was deleted): the block
 *   and the coroutines that it has started are cancelled. When they have ended, the caller gets a [GrantLostException];
 *   what else the block threw is suppressed in it. A block that never suspends and does not look at [isActive] is not
 *   stopped, but its caller is told as well.
 * - The grant is given back in [NonCancellable]: withLock returns when the store has confirmed it, or the session is
 *   gone.
 *
 * The lock is not re-entrant: the block of a coroutine that holds it must not acquire it again.
 *
 * @param timeout how long to wait for the grant at most; null is without a limit
 * @param block what to do; it is given the grant, for its token and deadline
 * @throws io.conclave.error.AcquireTimeoutException if the time is over; the block was not begun
 * @throws io.conclave.error.SessionGoneException if the session is lost while it waits
 * @throws GrantLostException if the grant was lost before the block ended
 * @throws IllegalArgumentException if the timeout is negative
 */
public suspend fun <G : Grant, R> Acquirable<G>.withLock(
    timeout: Duration? = null,
    block: suspend CoroutineScope.(G) -> R,
): R {
    val grant = awaitGrant(this, timeout)
    try {
        return runWhileHeld(grant, block)
    } finally {
        withContext(NonCancellable) { grant.closeAsync().await() }
    }
}

private suspend fun <G : Grant> awaitGrant(lock: Acquirable<G>, timeout: Duration?): G =
    suspendCancellableCoroutine { caller ->
        val isLimited = timeout != null && timeout != Duration.INFINITE
        val acquisition = if (isLimited) lock.acquireAsync(timeout.toJavaDuration()) else lock.acquireAsync()
        caller.invokeOnCancellation { acquisition.cancel(false) } // leaves the line
        acquisition.whenComplete { grant, failure ->
            if (failure == null) {
                // the last part: granted, and cancelled before the caller has seen it
                caller.resume(grant) { _, unseen, _ -> unseen.closeAsync() }
            } else {
                caller.resumeWithException(if (failure is CompletionException) failure.cause ?: failure else failure)
            }
        }
    }

/** What cancels the block when the grant is lost. The caller gets a GrantLostException instead. */
private class Loss : CancellationException("the grant was lost")

private suspend fun <G : Grant, R> runWhileHeld(grant: G, block: suspend CoroutineScope.(G) -> R): R {
    val outcome =
        try {
            Result.success(runUntilLost(grant, block))
        } catch (failure: Throwable) {
            Result.failure(failure)
        }
    val failure = outcome.exceptionOrNull()
    val isCancelledByOthers = failure != null && !currentCoroutineContext().isActive
    if (failure !is Error && failure !is GrantLostException && !isCancelledByOthers) {
        lossOf(grant)?.let { loss ->
            if (failure != null && failure !is Loss) loss.addSuppressed(failure)
            throw loss
        }
    }
    return outcome.getOrThrow()
}

/** Watches the grant until the coroutines have ended that the block has started, too. */
private suspend fun <G : Grant, R> runUntilLost(grant: G, block: suspend CoroutineScope.(G) -> R): R {
    var watch: Future<*>? = null
    try {
        return coroutineScope {
            watch = grant.lost().thenAccept { reason -> if (reason != LossReason.RELEASED) cancel(Loss()) }
            block(grant)
        }
    } finally {
        watch?.cancel(false)
    }
}

/** Null if the grant is held, or the block has given it back itself. */
private fun lossOf(grant: Grant): GrantLostException? =
    try {
        grant.ensureHeld()
        null
    } catch (loss: GrantLostException) {
        loss.takeIf { it.reason() != LossReason.RELEASED }
    }
