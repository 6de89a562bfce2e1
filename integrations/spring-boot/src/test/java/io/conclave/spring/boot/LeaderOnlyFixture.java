package io.conclave.spring.boot;

import static org.awaitility.Awaitility.await;

import io.conclave.error.LossReason;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;

/** Applications in which one of several runs a method, and how their leadership is lost. */
abstract class LeaderOnlyFixture {
    static final String PATH = "/elections/reports";
    static final Duration PATIENCE = Duration.ofMinutes(1);

    final String store = UUID.randomUUID().toString();
    final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("conclave.connect-string=memory:" + store, "job.place=/elections")
            .withConfiguration(
                    AutoConfigurations.of(ConclaveAutoConfiguration.class, LeaderElectionAutoConfiguration.class));

    @AfterEach
    void forgetStore() {
        MemoryStore.forget(store);
    }

    static class Jobs {
        @LeaderOnly("${job.place}/reports")
        public <T> Optional<T> run(Callable<T> body) throws Exception {
            return Optional.of(body.call());
        }

        @LeaderOnly(PATH)
        public String text() {
            return "run";
        }
    }

    static class Events {
        final List<String> seen = new CopyOnWriteArrayList<>();
        final List<Optional<LossReason>> reasons = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeadershipGrantedEvent event) {
            seen.add("granted " + event.getPath() + " " + event.getToken());
        }

        @EventListener
        void on(LeadershipRevokedEvent event) {
            reasons.add(event.getReason());
            seen.add("revoked " + event.getPath() + " " + event.getToken());
        }
    }

    static void awaitLeader(ApplicationContext context) {
        await().until(() -> context.getBean(LeaderElections.class).isLeader(PATH));
    }

    void loseLeadership() {
        MemoryStore.named(store)
                .faults()
                .deleteAsOperator(CurrentGrant.get().orElseThrow().path());
    }

    /** Whether an interrupt comes, which it takes. */
    static boolean isInterrupted() {
        return isInterrupted(new CountDownLatch(1));
    }

    /** Whether an interrupt comes first. */
    static boolean isInterrupted(CountDownLatch end) {
        try {
            boolean over = end.await(120, TimeUnit.SECONDS);
            return !over && Thread.interrupted();
        } catch (InterruptedException e) {
            return true;
        }
    }

    /** Has the phase of Boot's graceful shutdown, which comes before the stop of the web server itself. */
    record WebServerLike(List<String> stops) implements SmartLifecycle {
        @Override
        public void start() {}

        @Override
        public void stop() {
            stops.add("web server");
        }

        @Override
        public boolean isRunning() {
            return true;
        }

        @Override
        public int getPhase() {
            return SmartLifecycle.DEFAULT_PHASE - 1024;
        }
    }
}
