package io.conclave.coordinator;

import dev.failsafe.spi.Scheduler;
import io.conclave.recipe.RecipeContext;
import io.conclave.spi.SerialExecutor;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Lets Failsafe wait on the injected time. */
final class FailsafeTimers implements Scheduler {
    private final RecipeContext context;

    FailsafeTimers(RecipeContext context) {
        this.context = context;
    }

    @Override
    public ScheduledFuture<?> schedule(Callable<?> callable, long delay, TimeUnit unit) {
        Scheduled<?> task = new Scheduled<>(callable, unit.toNanos(delay));
        SerialExecutor threads = new SerialExecutor("retries", context.listenerExecutor(), context.time());
        task.timer = context.time().schedule(Duration.ofNanos(task.delayNanos), () -> threads.execute(task));
        return task;
    }

    private static final class Scheduled<V> extends FutureTask<V> implements ScheduledFuture<V> {
        private final long delayNanos;
        private volatile TimeSource.Timer timer = () -> {};

        Scheduled(Callable<V> callable, long delayNanos) {
            super(callable);
            this.delayNanos = delayNanos;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            timer.cancel();
            return super.cancel(mayInterruptIfRunning);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(delayNanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(delayNanos, other.getDelay(TimeUnit.NANOSECONDS));
        }
    }
}
