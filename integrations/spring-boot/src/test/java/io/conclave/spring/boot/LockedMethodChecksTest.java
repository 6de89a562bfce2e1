package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.testkit.memory.MemoryStore;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Which methods {@link DistributedLocked} cannot guard, and that the application does not start with them. */
class LockedMethodChecksTest {
    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner runner = DistributedLockedTest.runner(store);

    @AfterEach
    void forget() {
        MemoryStore.forget(store);
    }

    @Test
    void startFailsWithSeveralCoordinatorsOfWhichNoneIsPrimary() {
        runner.withBean("one", Coordinator.class, () -> Coordinator.start("memory:" + store))
                .withBean("two", Coordinator.class, () -> Coordinator.start("memory:" + store))
                .withBean(PlainOrders.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(context.getStartupFailure())
                            .isInstanceOf(NoUniqueBeanDefinitionException.class)
                            .hasMessageContaining("@DistributedLocked on ")
                            .hasMessageContaining("needs one coordinator, and there are several: one, two");
                });
    }

    static class PlainOrders {
        @DistributedLocked("/locks/plain")
        public void settle() {}
    }

    @Test
    void methodsThatCannotBeGuardedAreRefusedAtTheStart() {
        assertRefused(PrivateMethod.class, "must not be private, static or final");
        assertRefused(StaticMethod.class, "must not be private, static or final");
        assertRefused(FinalMethod.class, "must not be private, static or final");
        assertRefused(ReturnsFuture.class, "would go on after the grant was given back");
        assertRefused(ReturnsPublisher.class, "would go on after the grant was given back");
        assertRefused(SkipsPrimitive.class, "it returns the primitive type int");
        assertRefused(BadPath.class, "must start with '/'");
        assertRefused(ReturnsFlow.class, "would go on after the grant was given back");
        assertRefused(ReturnsDeferred.class, "would go on after the grant was given back");
        assertRefused(EmptyComponent.class, "\"/a//#{1}\"");
        assertRefused(Root.class, "a lock needs a znode of its own");
        assertRefused(TrailingSlash.class, "must not end with '/'");
        assertRefused(BadExpression.class, "Invalid path \"/a/#{#}\"");
        assertRefused(BadWaitTime.class, "Invalid wait time \"soon\"");
        assertRefused(NegativeWaitTime.class, "must not be negative");
    }

    @Test
    void methodsOfAProxyThatItsTargetDoesNotHaveAreChecked() {
        runner.withBean(
                        Repository.class,
                        () -> DistributedLockedTest.repository(
                                Repository.class, () -> CompletableFuture.completedFuture(7)))
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(context.getStartupFailure())
                            .hasStackTraceContaining("Invalid @DistributedLocked on ")
                            .hasStackTraceContaining("would go on after the grant was given back");
                });
    }

    interface Repository {
        @DistributedLocked("/locks/rows")
        CompletableFuture<Integer> count();
    }

    private <T> void assertRefused(Class<T> type, String rule) {
        runner.withBean(type).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("Invalid @DistributedLocked on ")
                    .hasStackTraceContaining(type.getSimpleName())
                    .hasStackTraceContaining(rule);
        });
    }

    static class PrivateMethod {
        @DistributedLocked("/a")
        private void run() {}
    }

    static class StaticMethod {
        @DistributedLocked("/a")
        public static void run() {}
    }

    static class FinalMethod {
        @DistributedLocked("/a")
        public final void run() {}
    }

    static class ReturnsFuture {
        @DistributedLocked("/a")
        public CompletableFuture<String> run() {
            return CompletableFuture.completedFuture("");
        }
    }

    static class ReturnsPublisher {
        @DistributedLocked("/a")
        public Flow.Publisher<String> run() {
            throw new AssertionError();
        }
    }

    static class ReturnsFlow {
        @DistributedLocked("/a")
        public kotlinx.coroutines.flow.Flow<String> run() {
            throw new AssertionError();
        }
    }

    static class ReturnsDeferred {
        interface Deferred extends kotlinx.coroutines.Job {}

        @DistributedLocked("/a")
        public Deferred run() {
            throw new AssertionError();
        }
    }

    static class EmptyComponent {
        @DistributedLocked("/a//#{1}")
        public void run() {}
    }

    static class Root {
        @DistributedLocked("/")
        public void run() {}
    }

    static class TrailingSlash {
        @DistributedLocked("/a/#{1}/")
        public void run() {}
    }

    static class SkipsPrimitive {
        @DistributedLocked(value = "/a", ifNotAcquired = NotAcquired.SKIP)
        public int run() {
            return 0;
        }
    }

    static class BadPath {
        @DistributedLocked("a")
        public void run() {}
    }

    static class BadExpression {
        @DistributedLocked("/a/#{#}")
        public void run() {}
    }

    static class BadWaitTime {
        @DistributedLocked(value = "/a", waitTime = "soon")
        public void run() {}
    }

    static class NegativeWaitTime {
        @DistributedLocked(value = "/a", waitTime = "-1s")
        public void run() {}
    }

    @Test
    void startFailsWithoutACoordinatorRatherThanRunWithoutTheLock() {
        new ApplicationContextRunner()
                .withPropertyValues("job.wait=0s", "job.place=/locks")
                .withConfiguration(AutoConfigurations.of(
                        ConclaveAutoConfiguration.class, DistributedLockedAutoConfiguration.class))
                .withBean(DistributedLockedTest.Jobs.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(new MissingCoordinatorFailureAnalyzer()
                                    .analyze(context.getStartupFailure())
                                    .getDescription())
                            .contains("conclave.connect-string is not set");
                });
    }

    @Test
    void startFailsWithoutTheRecipeRatherThanRunWithoutTheLock() {
        ApplicationContextRunner without = runner.withClassLoader(new FilteredClassLoader(DistributedLock.class));
        without.run(context -> assertThat(context).hasNotFailed());
        without.withBean(DistributedLockedTest.Jobs.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("Invalid @DistributedLocked on ")
                    .hasStackTraceContaining(
                            "add conclave-recipes-locks (on the module path: requires" + " io.conclave.locks)");
        });
    }

    @Test
    void beansWithoutTheAnnotationAreLeftAlone() {
        runner.withBean(String.class, () -> "plain")
                .withBean("thread", Thread.class, Thread::new)
                .run(context -> assertThat(
                                org.springframework.aop.support.AopUtils.isAopProxy(context.getBean(Thread.class)))
                        .isFalse());
    }
}
