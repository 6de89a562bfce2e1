package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.GrantLostException;
import io.conclave.grant.FencedGrant;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

class DistributedLockedTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner runner = runner(store);

    private Coordinator other;

    /** An application on a store, with what makes locks of the annotation. */
    static ApplicationContextRunner runner(String store) {
        return new ApplicationContextRunner()
                .withPropertyValues(
                        "conclave.connect-string=memory:" + store,
                        "conclave.try-timeout=60s",
                        "job.wait=0s",
                        "job.place=/locks")
                .withConfiguration(AutoConfigurations.of(
                        ConclaveAutoConfiguration.class, DistributedLockedAutoConfiguration.class));
    }

    @BeforeEach
    void connect() {
        other = Coordinator.connect("memory:" + store);
    }

    @AfterEach
    void disconnect() {
        other.close();
        MemoryStore.forget(store);
    }

    private boolean isHeld(String path) {
        try {
            return DistributedLock.at(other, path).holder().isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static class Jobs {
        @DistributedLocked("/locks/#{#name}")
        public <T> T run(String name, Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLocked("/locks/#{#p0}")
        public <T> T runToo(String name, Callable<T> body) throws Exception {
            return body.call();
        }

        @DistributedLocked(value = "${job.place}/a", waitTime = "${job.wait}")
        public String runIfFree() {
            return "run";
        }

        @DistributedLocked(value = "/locks/a", waitTime = "50ms")
        public String runSoon() {
            return "run";
        }

        @DistributedLocked(value = "/locks/a", waitTime = "60s", ifNotAcquired = NotAcquired.SKIP)
        public String runOrSkip(Callable<String> body) throws Exception {
            return body.call();
        }

        @DistributedLocked(value = "/locks/a", waitTime = "10ms", ifNotAcquired = NotAcquired.SKIP)
        public String runSoonOrSkip() {
            return "run";
        }

        @DistributedLocked(value = "/locks/a", waitTime = "0s", ifNotAcquired = NotAcquired.SKIP)
        public Optional<String> runIfFreeOrSkip() {
            return Optional.of("run");
        }

        @DistributedLocked("/locks/a")
        public void runWithoutInterrupt() {}
    }

    private void withJobs(Try<Jobs> test) {
        runner.withBean(Jobs.class).run(context -> {
            Coordinator own = context.getBean(Coordinator.class);
            await().until(() -> own.state() == SessionState.CONNECTED); // a lock that is not free is another matter
            test.with(context.getBean(Jobs.class));
        });
    }

    private interface Try<T> {
        void with(T bean) throws Exception;
    }

    @Test
    void methodRunsWhileTheLockIsHeld() {
        withJobs(jobs -> {
            FencedGrant grant = jobs.run("a", () -> {
                assertThat(isHeld("/locks/a")).isTrue();
                return CurrentGrant.get().orElseThrow();
            });
            assertThat(grant.token()).isNotNull();
            assertThat(grant.isHeld()).isFalse();
            assertThat(isHeld("/locks/a")).isFalse();
            assertThat(CurrentGrant.get()).isEmpty();
        });
    }

    @Test
    void whatTheMethodThrowsIsThrownAndTheLockIsReleased() {
        withJobs(jobs -> {
            assertThatThrownBy(() -> jobs.run("a", () -> {
                        throw new java.io.IOException("of the method");
                    }))
                    .isInstanceOf(java.io.IOException.class)
                    .hasMessage("of the method");
            assertThat(isHeld("/locks/a")).isFalse();
        });
    }

    @Test
    void valueOfAnExpressionIsOneComponentOfThePath() {
        withJobs(jobs -> {
            assertThat(jobs.<Boolean>runToo("x/../y %", () -> isHeld("/locks/x%2F..%2Fy%20%25")))
                    .isTrue();
            assertThat(jobs.<Boolean>run("..", () -> isHeld("/locks/%2E."))).isTrue();
            assertThat(jobs.<Boolean>run("gr\u00fcn", () -> isHeld("/locks/gr\u00fcn")))
                    .isTrue();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> jobs.run(null, () -> ""))
                    .withMessageContaining("#{#name} is null");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> jobs.run("", () -> ""))
                    .withMessageContaining("#{#name} is empty");
        });
    }

    @Test
    void callerIsToldThatTheLockIsNotFree() {
        withJobs(jobs -> {
            try (LockGrant held = DistributedLock.at(other, "/locks/a").acquire(PATIENCE)) {
                assertThatThrownBy(jobs::runIfFree)
                        .isInstanceOf(AcquireTimeoutException.class)
                        .hasMessageContaining("/locks/a");
                assertThatThrownBy(jobs::runSoon).isInstanceOf(AcquireTimeoutException.class);
            }
            assertThat(jobs.runIfFree()).isEqualTo("run");
        });
    }

    @Test
    void methodIsSkippedIfItIsSaidSo() {
        withJobs(jobs -> {
            try (LockGrant held = DistributedLock.at(other, "/locks/a").acquire(PATIENCE)) {
                assertThat(jobs.runSoonOrSkip()).isNull();
                assertThat(jobs.runIfFreeOrSkip()).isEmpty();
            }
            assertThat(jobs.runIfFreeOrSkip()).contains("run");
        });
    }

    @Test
    void timeoutWithinTheMethodIsNoSkip() {
        runner.withBean(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            Coordinator own = context.getBean(Coordinator.class);
            try (LockGrant held = DistributedLock.at(other, "/locks/inner").acquire(PATIENCE)) {
                assertThatThrownBy(() -> jobs.runOrSkip(() -> DistributedLock.at(own, "/locks/inner")
                                .acquire(Duration.ofMillis(10))
                                .toString()))
                        .isInstanceOf(AcquireTimeoutException.class)
                        .hasMessageContaining("/locks/inner");
            }
        });
    }

    @Test
    void threadThatHoldsTheLockRunsUnderIt() {
        withJobs(jobs -> assertThat(jobs.<Boolean>run("a", () -> {
                    FencedGrant outer = CurrentGrant.get().orElseThrow();
                    return jobs.<Boolean>runToo("a", () -> CurrentGrant.get().orElseThrow() == outer);
                }))
                .isTrue());
    }

    @Test
    void currentGrantIsThatOfTheMethodAlsoIfItsLockWasTakenFurtherOut() {
        withJobs(jobs -> assertThat(jobs.<Boolean>run("a", () -> {
                    FencedGrant outer = CurrentGrant.get().orElseThrow();
                    return jobs.<Boolean>run(
                            "b",
                            () -> jobs.<Boolean>runToo(
                                    "a", () -> CurrentGrant.get().orElseThrow() == outer));
                }))
                .isTrue());
    }

    @Test
    void lossInterruptsTheMethodAndIsThrown() {
        withJobs(jobs -> {
            assertThatThrownBy(() -> jobs.run("a", () -> {
                        MemoryStore.named(store)
                                .faults()
                                .deleteAsOperator(
                                        CurrentGrant.get().orElseThrow().path());
                        new CountDownLatch(1).await();
                        return "not reached";
                    }))
                    .isInstanceOf(GrantLostException.class)
                    .satisfies(
                            e -> assertThat(e.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void interruptWhileWaitingIsKeptWhereTheMethodCannotThrowIt() {
        withJobs(jobs -> {
            try (LockGrant held = DistributedLock.at(other, "/locks/a").acquire(PATIENCE)) {
                Thread.currentThread().interrupt();
                assertThatThrownBy(jobs::runWithoutInterrupt)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("Interrupted while waiting for the lock /locks/a");
                assertThat(Thread.interrupted()).isTrue();
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> jobs.run("a", () -> "")).isInstanceOf(InterruptedException.class);
                assertThat(Thread.interrupted()).isFalse();
            }
        });
    }

    @Test
    void lockIsHeldFromBeforeTheTransactionUntilAfterItsEnd() {
        runner.withUserConfiguration(Transactions.class).run(context -> {
            context.getBean(Transfers.class).transfer();
            assertThat(context.getBean(RecordingTransactions.class).seen)
                    .containsExactly("begin under lock", "commit under lock");
            assertThat(isHeld("/locks/transfer")).isFalse();
        });
    }

    static class Transfers {
        @Transactional
        @DistributedLocked("/locks/transfer")
        public void transfer() {}
    }

    static class RecordingTransactions extends AbstractPlatformTransactionManager {
        final transient List<String> seen = new CopyOnWriteArrayList<>();

        private void see(String what) {
            boolean isHeld = CurrentGrant.get().filter(FencedGrant::isHeld).isPresent();
            seen.add(what + (isHeld ? " under lock" : " without lock"));
        }

        @Override
        protected Object doGetTransaction() {
            return "transaction";
        }

        @Override
        protected void doBegin(Object transaction, TransactionDefinition definition) {
            see("begin");
        }

        @Override
        protected void doCommit(DefaultTransactionStatus status) {
            see("commit");
        }

        @Override
        protected void doRollback(DefaultTransactionStatus status) {
            see("rollback");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {
        @Bean
        PlatformTransactionManager transactions() {
            return new RecordingTransactions();
        }

        @Bean
        Transfers transfers() {
            return new Transfers();
        }
    }

    @Test
    void asynchronousMethodHasTheLockOnItsOwnThread() {
        runner.withUserConfiguration(Asynchronous.class)
                .withBean(Background.class)
                .run(context -> {
                    CompletableFuture<Boolean> seen = new CompletableFuture<>();
                    context.getBean(Background.class).run(seen);
                    assertThat(seen.get(60, TimeUnit.SECONDS)).isTrue();
                    await().until(() -> !isHeld("/locks/background"));
                });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Asynchronous {}

    static class Background {
        @Async
        @DistributedLocked("/locks/background")
        public void run(CompletableFuture<Boolean> seen) {
            seen.complete(CurrentGrant.get().filter(FencedGrant::isHeld).isPresent());
        }
    }

    @Test
    void methodsOfAProxyThatItsTargetDoesNotHaveRunUnderTheLock() {
        AtomicReference<Boolean> seen = new AtomicReference<>(false);
        runner.withBean(
                        SoundRepository.class,
                        () -> repository(SoundRepository.class, () -> {
                            seen.set(isHeld("/locks/rows/7"));
                            return 7;
                        }))
                .run(context -> {
                    assertThat(context.getBean(SoundRepository.class).count("7"))
                            .isEqualTo(7);
                    assertThat(seen).hasValue(true);
                });
    }

    /** As Spring Data makes them: the advice answers, and the target knows nothing of the interface. */
    static <T> T repository(Class<T> type, Supplier<Object> answer) {
        ProxyFactory factory = new ProxyFactory(new Object());
        factory.addInterface(type);
        factory.addAdvice((MethodInterceptor)
                invocation -> invocation.getMethod().getDeclaringClass() == type ? answer.get() : invocation.proceed());
        return type.cast(factory.getProxy());
    }

    interface SoundRepository {
        @DistributedLocked("/locks/rows/#{#id}")
        int count(String id);
    }

    @Configuration(proxyBeanMethods = false)
    static class ClosingBeans {
        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        LastCall closing(Jobs jobs) {
            return new LastCall(() -> jobs.run("a", () -> {
                FencedGrant grant = CurrentGrant.get().orElseThrow();
                grant.ensureHeld();
                return grant;
            }));
        }
    }

    @Test
    void lockedMethodRunsWhileItsCallerIsDestroyed() {
        AtomicReference<LastCall> closing = new AtomicReference<>();
        runner.withUserConfiguration(ClosingBeans.class).run(context -> closing.set(context.getBean(LastCall.class)));
        assertThat(closing.get().answer).isCompleted();
        assertThat(isHeld("/locks/a")).isFalse();
    }
}
