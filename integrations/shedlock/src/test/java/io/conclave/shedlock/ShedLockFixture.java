package io.conclave.shedlock;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.testkit.contract.RecipeFixture;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Where tests of the provider work: ShedLock's clock, which is one for the whole JVM, and shorthands. */
@ResourceLock("net.javacrumbs.shedlock.core.ClockProvider")
abstract class ShedLockFixture extends RecipeFixture {
    static final String NAME = "nightly-report";
    static final Duration LONG = Duration.ofMinutes(5);

    final ShiftedClock clock = new ShiftedClock();

    @BeforeEach
    final void setClock() {
        ClockProvider.setClock(clock);
    }

    @AfterEach
    final void resetClock() {
        ClockProvider.setClock(Clock.systemUTC());
    }

    static LockConfiguration config(String name) {
        return config(name, LONG, Duration.ZERO);
    }

    static LockConfiguration config(String name, Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
    }

    static SimpleLock locked(LockProvider provider, LockConfiguration configuration) {
        Optional<SimpleLock> lock = provider.lock(configuration);
        assertTrue(lock.isPresent(), () -> configuration + " is not free");
        return lock.get();
    }

    /** Whether another process finds the lock free; it takes it and unlocks it again. */
    static boolean isFree(Coordinator other, String name) {
        return isFree(ConclaveLockProvider.at(other), name);
    }

    static boolean isFree(LockProvider provider, String name) {
        Optional<SimpleLock> lock = provider.lock(config(name));
        lock.ifPresent(SimpleLock::unlock);
        return lock.isPresent();
    }
}
