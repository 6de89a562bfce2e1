package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.Candidacy;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.error.LossReason;
import io.conclave.node.NodePath;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * The part of this application in one election: its candidacy, and what runs while it leads.
 *
 * <p>A tick begins only while the gate is open. When the leadership is lost or given up the gate is closed, and all
 * ticks are interrupted, but for the one that has given it up itself. The leadership is given up, and the next campaign
 * begins, when the last of them has ended. {@code lock} guards the state; nothing blocks while it is held.
 */
final class LedElection {
    private static final Logger LOG = LoggerFactory.getLogger(LedElection.class);

    private final Object source;
    private final LeaderElection election;
    private final ApplicationEventPublisher events;
    private final Object lock = new Object();
    private final Set<LeaderTick> ticks = new HashSet<>(); // guarded by lock
    private @Nullable Candidacy candidacy; // guarded by lock
    private @Nullable Leadership open; // guarded by lock
    private CountDownLatch over = new CountDownLatch(1); // guarded by lock
    private @Nullable Thread leader; // guarded by lock
    private @Nullable Thread publisher; // guarded by lock
    private boolean stopping = true; // guarded by lock

    LedElection(Object source, Coordinator coordinator, NodePath path, ApplicationEventPublisher events) {
        this.source = source;
        this.election = LeaderElection.at(coordinator, path);
        this.events = events;
    }

    NodePath path() {
        return election.path();
    }

    /** Becomes a candidate, if it is none. Never blocks. */
    void start() {
        synchronized (lock) {
            if (candidacy == null) {
                stopping = false;
                candidacy = election.runWhileLeader(this::lead);
            }
        }
    }

    /**
     * Gives up. Never blocks.
     *
     * @return completes when nothing is left of it. A thread that the end waits for cannot wait for the end: if the
     *     calling thread is one, or another one waits in System.exit for it, it completes when the other ticks have
     *     ended
     */
    CompletableFuture<Void> stop() {
        synchronized (lock) {
            stopping = true;
            boolean isAwaited = isAwaited();
            ticks.stream().filter(LeaderTick::awaitsThisStop).forEach(LeaderTick::stops);
            open = null;
            ticks.forEach(LeaderTick::interrupt);
            over.countDown();
            Candidacy ending = candidacy;
            candidacy = null;
            CompletableFuture<Void> ended =
                    ending == null ? CompletableFuture.completedFuture(null) : ending.closeAsync();
            return isAwaited ? othersEnded() : ended;
        }
    }

    /**
     * Whether nothing ends any more while this stop goes on: the only threads that are left wait for it, in
     * System.exit. One may call that when the stop has interrupted it.
     */
    boolean awaitsThisStop() {
        synchronized (lock) {
            return isAwaited() && ticks.stream().allMatch(LeaderTick::awaitsThisStop);
        }
    }

    /** With the lock held. */
    private boolean isAwaited() {
        return LeaderTick.awaitsThisStop(leader)
                || LeaderTick.awaitsThisStop(publisher)
                || ticks.stream().anyMatch(LeaderTick::awaitsThisStop);
    }

    /** With the lock held. */
    private CompletableFuture<Void> othersEnded() {
        return CompletableFuture.allOf(ticks.stream()
                .filter(tick -> !tick.awaitsThisStop())
                .map(LeaderTick::ended)
                .toArray(CompletableFuture<?>[]::new));
    }

    /** On a thread of the election, as long as this application leads. */
    private void lead(Leadership leadership) {
        CountDownLatch end = new CountDownLatch(1);
        synchronized (lock) {
            if (stopping) {
                return;
            }
            over = end;
            leader = Thread.currentThread();
        }
        AtomicReference<@Nullable LossReason> loss = new AtomicReference<>();
        leadership.lost().thenAccept(reason -> {
            loss.set(reason == LossReason.RELEASED ? null : reason);
            close(leadership);
            end.countDown();
        });
        LOG.info("Leading {} with the token {}", path(), leadership.token());
        publish(new LeadershipGrantedEvent(source, path(), leadership.token()));
        if (openFor(leadership, end)) {
            awaitEnd(end);
        }
        close(leadership);
        LossReason reason = loss.get();
        LOG.info("Leading {} no more: {}", path(), reason == null ? "it is given up" : reason);
        try {
            publishUndisturbed(new LeadershipRevokedEvent(source, path(), leadership.token(), reason));
        } finally {
            awaitTicks();
        }
    }

    /** Whether there is something to wait for: a listener may have taken its time. */
    private boolean openFor(Leadership leadership, CountDownLatch end) {
        synchronized (lock) {
            boolean leads = !stopping && end.getCount() > 0;
            open = leads ? leadership : null;
            return leads;
        }
    }

    /** The latch says when it is over; interrupts say the same, but a listener may have taken one away. */
    private static void awaitEnd(CountDownLatch end) {
        boolean isOver = false;
        while (!isOver) {
            try {
                end.await();
                isOver = true;
            } catch (InterruptedException e) {
                LOG.trace("Interrupted: the leadership ends", e);
            }
        }
    }

    private void close(Leadership leadership) {
        synchronized (lock) {
            if (open == leadership) {
                open = null;
                ticks.stream().filter(tick -> !tick.hasGivenUp()).forEach(LeaderTick::interrupt);
            }
        }
    }

    private void awaitTicks() {
        synchronized (lock) {
            publisher = null;
            while (!ticks.isEmpty()) {
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    LOG.debug("{}: waiting for {} runs to end", path(), ticks.size());
                }
            }
            leader = null;
        }
    }

    /**
     * Publishes on a thread of its own, and waits for that. This thread is interrupted when the leadership ends, and
     * that interrupt may still be to come.
     */
    private void publishUndisturbed(ApplicationEvent event) {
        Thread thread = new Thread(() -> publish(event), "conclave-revoked " + path());
        thread.setDaemon(true);
        synchronized (lock) {
            publisher = thread;
        }
        thread.start();
        boolean isOver = false;
        while (!isOver) {
            try {
                thread.join();
                isOver = true;
            } catch (InterruptedException e) {
                LOG.trace("Interrupted: the leadership ends", e);
            }
        }
    }

    /** What a listener throws is the listener's: the leadership goes on. */
    private void publish(ApplicationEvent event) {
        try {
            events.publishEvent(event);
        } catch (RuntimeException | Error e) {
            LOG.error("A listener of {} of {} failed", event.getClass().getSimpleName(), path(), e);
        }
    }

    /** The leadership, while methods may run under it. Never blocks. */
    Optional<Leadership> leadership() {
        synchronized (lock) {
            return Optional.ofNullable(open).filter(Leadership::isHeld);
        }
    }

    /** Begins a tick on this thread; empty if this application does not lead. Never blocks. */
    Optional<Running> begin() {
        synchronized (lock) {
            return leadership().map(leadership -> {
                LeaderTick tick = LeaderTick.begin(leadership);
                ticks.add(tick);
                return new Running(tick, leadership);
            });
        }
    }

    /** A tick that has begun, and must be ended on the same thread. */
    final class Running {
        private final LeaderTick tick;
        private final Leadership leadership;

        Running(LeaderTick tick, Leadership leadership) {
            this.tick = tick;
            this.leadership = leadership;
        }

        Leadership leadership() {
            return leadership;
        }

        /** Throws if the leadership was lost to it: it ended, and not because it has given it up itself. */
        void ensureNotLost() {
            if (!tick.hasGivenUp()) {
                leadership.ensureHeld();
            }
        }

        /**
         * Ends it.
         *
         * @param failure what the method has thrown
         * @param thrown what its caller gets of that
         */
        void end(@Nullable Throwable failure, @Nullable Throwable thrown) {
            tick.end(failure, thrown);
            synchronized (lock) {
                ticks.remove(tick);
                lock.notifyAll();
            }
        }
    }
}
