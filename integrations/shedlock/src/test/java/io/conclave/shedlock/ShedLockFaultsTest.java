package io.conclave.shedlock;

import static java.time.Duration.ZERO;

import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Each fault at each request of a lock, an extension and an unlock. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
@ResourceLock("net.javacrumbs.shedlock.core.ClockProvider")
class ShedLockFaultsTest {
    private static final Duration A_WHILE = Duration.ofMillis(200);
    private static final int PATIENCE = 40; // longer than a session and a pause to come back
    private static final Fault[] INTERRUPTS = {Fault.INTERRUPT, Fault.INTERRUPT_AT_REST, Fault.STALL_AND_INTERRUPT};

    private static LockConfiguration config() {
        return new LockConfiguration(ClockProvider.now(), "job", Duration.ofHours(1), ZERO);
    }

    /** Patient, so that only an interrupt makes a call fail. */
    private static ConclaveLockProvider patient(Actor actor) {
        return ConclaveLockProvider.at(actor.coordinator(), "/faults").withRequestTimeout(Duration.ofMinutes(5));
    }

    private static ConclaveLockProvider patientUntilAtMost(Actor actor) {
        return patient(actor).untilAtMost();
    }

    /** Who is at its task now. */
    private static final class Inside {
        private final FaultRun run;
        private final boolean endsWithSession;
        private final AtomicInteger count = new AtomicInteger();

        Inside(FaultRun run, boolean endsWithSession) {
            this.run = run;
            this.endsWithSession = endsWithSession;
        }

        void enter() {
            if (count.incrementAndGet() > 1 && !mayBeTwo()) {
                run.violated("two are at the task at once");
            }
        }

        private boolean mayBeTwo() {
            return endsWithSession
                    && run.struck().stream().anyMatch(fault -> fault.endsSession() || fault.deletesNodes());
        }

        void leave() {
            count.decrementAndGet();
        }
    }

    private static FaultDriver turns(
            String name, Function<Actor, ConclaveLockProvider> provider, boolean endsWithSession, boolean isExtended) {
        return FaultDriver.of("shedlock, " + name, run -> {
                    Inside inside = new Inside(run, endsWithSession);
                    if (isExtended) { // the record is there
                        provider.apply(run.helper("first")).lock(config()).ifPresent(SimpleLock::unlock);
                    }
                    AtomicReference<SimpleLock> rivals = new AtomicReference<>();
                    run.rival(
                            "takes its turn",
                            me -> provider.apply(me).lock(config()).ifPresent(lock -> {
                                inside.enter();
                                inside.leave();
                                lock.unlock();
                            }));
                    run.rival(
                            "takes it and stays",
                            me -> provider.apply(me).lock(config()).ifPresent(lock -> {
                                inside.enter();
                                rivals.set(lock);
                            }));
                    run.victim().start(me -> {
                        Optional<SimpleLock> lock = provider.apply(me).lock(config());
                        if (lock.isPresent()) {
                            work(run, inside, lock.get(), isExtended);
                        }
                    });
                    run.victim().join();
                    run.settle();
                    SimpleLock stays = rivals.get();
                    if (stays != null) {
                        if (provider.apply(run.helper("third")).lock(config()).isPresent()) {
                            run.violated("a late call has freed the lock of a successor");
                        }
                        inside.leave();
                        stays.unlock();
                    }
                })
                .afterwards(run -> {
                    ConclaveLockProvider looking = provider.apply(run.helper("looking"));
                    Optional<SimpleLock> lock = looking.lock(config());
                    for (int i = 0; i < PATIENCE && lock.isEmpty(); i++) { // an unlock goes on in the background
                        run.pause(Duration.ofSeconds(1));
                        lock = looking.lock(config());
                    }
                    if (lock.isEmpty()) {
                        run.violated("the lock is not free although everybody is done");
                    }
                    lock.ifPresent(SimpleLock::unlock);
                });
    }

    private static void work(FaultRun run, Inside inside, SimpleLock first, boolean isExtended) {
        SimpleLock lock = first;
        boolean isHeld = true;
        inside.enter();
        try {
            run.pause(A_WHILE);
            if (isExtended) {
                Optional<SimpleLock> extended = lock.extend(Duration.ofHours(2), ZERO);
                isHeld = extended.isPresent();
                if (!isHeld && !inside.mayBeTwo()) {
                    run.violated("the lock was not extended although nobody else had it");
                }
                lock = extended.orElse(lock);
                run.pause(A_WHILE);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // a failure of the unlock must not hide it
        } finally {
            inside.leave();
            if (isHeld) {
                lock.unlock();
            }
        }
    }

    static FaultDriver untilAtMost() {
        return turns("until at most", ShedLockFaultsTest::patientUntilAtMost, false, false)
                .explaining(LockException.class, INTERRUPTS);
    }

    static FaultDriver untilAtMostExtended() {
        return turns("until at most, extended", ShedLockFaultsTest::patientUntilAtMost, false, true)
                .explaining(LockException.class, INTERRUPTS);
    }

    static FaultDriver withHolder() {
        return turns("while its holder lives", ShedLockFaultsTest::patient, true, false)
                .explaining(LockException.class, INTERRUPTS);
    }

    @Test
    void turnsUntilAtMost() {
        untilAtMost().verify();
    }

    @Test
    void turnsUntilAtMostWithExtensions() {
        untilAtMostExtended().verify();
    }

    @Test
    void turnsWhileTheHolderLives() {
        withHolder().verify();
    }

    @Test
    void turnsWhileTheHolderLivesWithExtensions() {
        turns("while its holder lives, extended", ShedLockFaultsTest::patient, true, true)
                .explaining(LockException.class, INTERRUPTS)
                .verify();
    }

    @Test
    void turnsOfCallersThatAreNotPatient() {
        turns("short request timeout", actor -> patient(actor).withRequestTimeout(Duration.ofSeconds(1)), true, false)
                .explaining(LockException.class, Fault.values())
                .verify();
    }
}
