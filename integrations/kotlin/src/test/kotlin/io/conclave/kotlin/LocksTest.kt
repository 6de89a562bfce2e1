package io.conclave.kotlin

import io.conclave.coordinator.Coordinator
import io.conclave.error.AcquireTimeoutException
import io.conclave.error.GrantLostException
import io.conclave.error.LossReason
import io.conclave.error.SessionGoneException
import io.conclave.locks.DistributedLock
import io.conclave.testkit.memory.MemoryStore
import java.util.UUID
import java.util.concurrent.Executors
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class LocksTest {
    private val store = UUID.randomUUID().toString()
    private val coordinator = connect()
    private val others = connect()
    private val lock = DistributedLock.at(coordinator, "/locks/orders")
    private val lockOfOthers = DistributedLock.at(others, "/locks/orders")

    /** Its tries wait for an answer for as long as a busy machine needs. */
    private fun connect() = Coordinator.builder("memory:$store").tryTimeout(java.time.Duration.ofMinutes(2)).connect()

    @AfterEach
    fun close() {
        coordinator.close()
        others.close()
        MemoryStore.forget(store)
    }

    @Test
    fun theBlockRunsWhileTheLockIsHeldAndThenItIsFree() = runBlocking {
        val token = lock.withLock { grant ->
            grant.ensureHeld()
            assertTrue(lockOfOthers.tryAcquire().isEmpty)
            grant.token()
        }
        assertTrue(lockOfOthers.tryAcquire().orElseThrow().token() > token)
    }

    @Test
    fun coroutinesOfOneThreadTakeTurns() {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { oneThread ->
            runBlocking(oneThread) {
                var inside = 0
                var turns = 0
                val all = List(20) {
                    launch {
                        lock.withLock {
                            assertEquals(0, inside++)
                            yield()
                            inside--
                            turns++
                        }
                    }
                }
                all.forEach { it.join() }
                assertEquals(20, turns)
            }
        }
    }

    @Test
    fun aFailureOfTheBlockGivesTheLockBackAndIsThrown() {
        val failure = assertThrows(IllegalStateException::class.java) {
            runBlocking { lock.withLock { error("mine") } }
        }
        assertEquals("mine", failure.message)
        assertFree()
    }

    @Test
    fun cancellationWhileWaitingLeavesTheLine() = runBlocking {
        lockOfOthers.acquire().use {
            val waiter = launch(Dispatchers.Default) { lock.withLock { } }
            await().until { lockOfOthers.members().size == 2 }
            waiter.cancelAndJoin()
            await().until { lockOfOthers.members().size == 1 }
        }
        assertFree()
    }

    @Test
    fun cancellationAtTheMomentOfTheGrantLeavesNothingBehind() = runBlocking {
        repeat(30) {
            val held = lockOfOthers.acquire()
            val waiter = launch(Dispatchers.Default) { lock.withLock { } }
            await().until { lockOfOthers.members().size == 2 }
            held.closeAsync()
            repeat(it % 7) { yield() }
            waiter.cancelAndJoin()
            await().until { lockOfOthers.members().isEmpty() }
        }
    }

    @Test
    fun cancellationWhileTheBlockRunsCancelsItAndGivesTheLockBack() = runBlocking {
        val isHeld = CompletableDeferred<Unit>()
        var cancelled = false
        val holder = launch(Dispatchers.Default) {
            lock.withLock {
                isHeld.complete(Unit)
                try {
                    awaitCancellation()
                } finally {
                    cancelled = true
                }
            }
        }
        isHeld.await()
        holder.cancelAndJoin()
        assertTrue(cancelled)
        assertFree()
    }

    @Test
    fun aTimeoutAroundItEndsTheBlockAndGivesTheLockBack() = runBlocking {
        val result = withTimeoutOrNull(100.milliseconds) { lock.withLock { awaitCancellation() } }
        assertNull(result)
        await().until { lockOfOthers.members().isEmpty() } // on a busy machine it was still waiting
    }

    @Test
    fun aLossCancelsTheBlockAndTheCoroutinesThatItHasStarted() {
        var childWasCancelled = false
        val loss = assertThrows(GrantLostException::class.java) {
            runBlocking {
                lock.withLock {
                    launch(start = CoroutineStart.UNDISPATCHED) {
                        try {
                            awaitCancellation()
                        } finally {
                            childWasCancelled = true
                        }
                    }
                    endSession()
                    awaitCancellation()
                }
            }
        }
        assertEquals(LossReason.SESSION_LOST, loss.reason())
        assertTrue(childWasCancelled)
        assertFree()
    }

    @Test
    fun aLossCancelsWhatABlockHasStartedThatHasReturned() {
        var childWasCancelled = false
        val loss = assertThrows(GrantLostException::class.java) {
            runBlocking {
                val test = this
                lock.withLock {
                    launch(start = CoroutineStart.UNDISPATCHED) {
                        try {
                            delay(1.minutes)
                        } catch (e: CancellationException) {
                            childWasCancelled = true
                            throw e
                        }
                    }
                    test.launch { endSession() } // of the same thread: it begins when this block has returned
                }
            }
        }
        assertEquals(LossReason.SESSION_LOST, loss.reason())
        assertTrue(childWasCancelled)
        assertFree()
    }

    @Test
    fun aLossFailsTheCallerAndDoesNotCancelIt() = runBlocking {
        val caller = async(Dispatchers.Default + SupervisorJob()) {
            lock.withLock {
                endSession()
                awaitCancellation()
            }
        }
        caller.join()
        assertInstanceOf(GrantLostException::class.java, caller.getCompletionExceptionOrNull())
        Unit
    }

    @Test
    fun aBlockThatIgnoresTheLossIsToldAtItsEnd() {
        val loss = assertThrows(GrantLostException::class.java) {
            runBlocking {
                lock.withLock { grant ->
                    endSession()
                    grant.lost().get() // blocks the thread
                    "done"
                }
            }
        }
        assertEquals(0, loss.suppressed.size)
    }

    @Test
    fun whatTheBlockThrowsAfterALossIsSuppressed() {
        val loss = assertThrows(GrantLostException::class.java) {
            runBlocking {
                lock.withLock {
                    endSession()
                    try {
                        awaitCancellation()
                    } catch (e: CancellationException) {
                        error("cleaning up failed")
                    }
                }
            }
        }
        assertEquals(listOf("cleaning up failed"), loss.suppressed.map { it.message })
    }

    @Test
    fun aBlockMayGiveTheLockBackItself() = runBlocking {
        val result = lock.withLock { grant ->
            grant.close()
            yield()
            assertTrue(lockOfOthers.tryAcquire().isPresent)
            "done"
        }
        assertEquals("done", result)
    }

    @Test
    fun aWaitEndsWithItsTimeout() {
        lockOfOthers.acquire().use {
            assertThrows(AcquireTimeoutException::class.java) {
                runBlocking { lock.withLock(10.milliseconds) { error("not begun") } }
            }
            await().until { lockOfOthers.members().size == 1 }
        }
    }

    @Test
    fun anInfiniteTimeoutIsNone() = runBlocking { lock.withLock(Duration.INFINITE) { it.ensureHeld() } }

    @Test
    fun aNegativeTimeoutIsRefused() {
        assertThrows(IllegalArgumentException::class.java) {
            runBlocking { lock.withLock((-1).seconds) { error("not begun") } }
        }
    }

    @Test
    fun aWaitEndsWithTheSession() {
        lockOfOthers.acquire().use {
            assertThrows(SessionGoneException::class.java) {
                runBlocking {
                    launch(Dispatchers.Default) {
                        await().until { lockOfOthers.members().size == 2 }
                        MemoryStore.named(store).faults().expire(lockOfOthers.members()[1].sessionId())
                    }
                    lock.withLock(5.minutes) { error("not begun") }
                }
            }
        }
    }

    private fun endSession() {
        MemoryStore.named(store).faults().expire(lock.holder().orElseThrow().sessionId())
    }

    private fun assertFree() {
        assertFalse(lockOfOthers.holder().isPresent)
    }
}
