package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.election.Candidate;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.grant.FencedGrant;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.session.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

class LeaderOnlyTest {
    private static final String PATH = "/elections/reports";
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
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

    private static void awaitLeader(ApplicationContext context) {
        await().until(() -> context.getBean(LeaderElections.class).isLeader(PATH));
    }

    @Test
    void onlyTheLeaderRunsTheMethod() {
        runner.withBean(Jobs.class).run(first -> {
            awaitLeader(first);
            runner.withBean(Jobs.class).run(second -> {
                await().until(() -> LeaderElection.at(second.getBean(Coordinator.class), PATH)
                                .candidates()
                                .size()
                        == 2);
                assertThat(first.getBean(Jobs.class).run(() -> "run")).contains("run");
                assertThat(first.getBean(Jobs.class).text()).isEqualTo("run");
                assertThat(second.getBean(Jobs.class).run(() -> "run")).isEmpty();
                assertThat(second.getBean(Jobs.class).text()).isNull();
            });
        });
    }

    @Test
    void methodHasTheTokenOfTheLeadership() {
        runner.withBean(Jobs.class).run(context -> {
            awaitLeader(context);
            FencingToken token = context.getBean(Jobs.class)
                    .run(() -> CurrentGrant.get().map(FencedGrant::token).orElseThrow())
                    .orElseThrow();
            assertThat(token)
                    .isEqualTo(context.getBean(LeaderElections.class)
                            .leadership(PATH)
                            .orElseThrow()
                            .token());
            assertThat(CurrentGrant.get()).isEmpty();
        });
    }

    @Test
    void lossInterruptsTheMethodAndTheApplicationLeadsAgain() {
        runner.withBean(Jobs.class).withBean(Events.class).run(context -> {
            awaitLeader(context);
            FencingToken[] tokens = new FencingToken[1];
            assertThatThrownBy(() -> context.getBean(Jobs.class).run(() -> {
                        FencedGrant grant = CurrentGrant.get().orElseThrow();
                        tokens[0] = grant.token();
                        MemoryStore.named(store).faults().deleteAsOperator(grant.path());
                        new CountDownLatch(1).await();
                        return "not reached";
                    }))
                    .isInstanceOf(GrantLostException.class)
                    .satisfies(
                            e -> assertThat(e.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            await().until(() -> context.getBean(LeaderElections.class)
                    .leadership(PATH)
                    .filter(leadership -> leadership.token().compareTo(tokens[0]) > 0)
                    .isPresent());
            List<String> seen = context.getBean(Events.class).seen;
            assertThat(seen.subList(0, 2))
                    .containsExactly("granted " + PATH + " " + tokens[0], "revoked " + PATH + " " + tokens[0]);
            assertThat(context.getBean(Events.class).reasons.get(0)).isPresent();
        });
    }

    @Test
    void lossInterruptsARunAndTheRunAroundIt() {
        runner.withBean(Jobs.class).run(context -> {
            awaitLeader(context);
            Jobs jobs = context.getBean(Jobs.class);
            List<String> seen = new CopyOnWriteArrayList<>();
            assertThatThrownBy(() -> jobs.run(() -> {
                        assertThatThrownBy(() -> jobs.run(() -> {
                                    loseLeadership();
                                    seen.add("inner " + isInterrupted());
                                    return "the interrupt was taken";
                                }))
                                .isInstanceOf(GrantLostException.class);
                        seen.add("outer " + isInterrupted());
                        return "the interrupt was taken again";
                    }))
                    .isInstanceOf(GrantLostException.class);
            assertThat(seen).containsExactly("inner true", "outer true");
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        });
    }

    @Test
    void runThatClearsTheInterruptOfAnotherIsInterruptedForTheLossStill() {
        ManualTimeSource clock = new ManualTimeSource();
        MemoryStore.named(store, clock);
        runner.withBean(Jobs.class)
                .withBean(Events.class)
                .withBean(CoordinatorBuilderCustomizer.class, () -> builder -> builder.timeSource(clock))
                .run(context -> {
                    awaitLeader(context);
                    Events events = context.getBean(Events.class);
                    List<Boolean> seen = new CopyOnWriteArrayList<>();
                    assertThatThrownBy(() -> context.getBean(Jobs.class).run(() -> {
                                Thread.currentThread().interrupt(); // as by a lock that is lost with it
                                loseLeadership();
                                while (events.reasons.isEmpty()) { // blocking would answer to the interrupt
                                    Thread.yield();
                                }
                                seen.add(Thread.interrupted());
                                clock.advance(Duration.ofMillis(10));
                                seen.add(Thread.interrupted());
                                return "the interrupt was taken";
                            }))
                            .isInstanceOf(GrantLostException.class);
                    assertThat(seen).containsExactly(true, true);
                    assertThat(Thread.currentThread().isInterrupted()).isFalse();
                });
    }

    @Test
    void lossOfALockWithinARunInterruptsTheRunToo() {
        ManualTimeSource clock = new ManualTimeSource();
        MemoryStore.named(store, clock);
        runner.withBean(Jobs.class)
                .withBean(Events.class)
                .withBean(CoordinatorBuilderCustomizer.class, () -> builder -> builder.timeSource(clock))
                .run(context -> {
                    awaitLeader(context);
                    Events events = context.getBean(Events.class);
                    DistributedLock lock = DistributedLock.at(context.getBean(Coordinator.class), "/locks/item");
                    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
                    assertThatThrownBy(() -> context.getBean(Jobs.class).run(() -> {
                                assertThatThrownBy(() -> lock.whileHeld(grant -> {
                                            MemoryStore.named(store).faults().deleteAsOperator(grant.path());
                                            while (!Thread.currentThread().isInterrupted()) {
                                                Thread.yield();
                                            }
                                            loseLeadership();
                                            while (events.reasons.isEmpty()) {
                                                Thread.yield();
                                            }
                                        }))
                                        .isInstanceOf(GrantLostException.class);
                                interrupted.complete(Thread.interrupted());
                                return "the interrupt was taken";
                            }))
                            .isInstanceOf(GrantLostException.class);
                    assertThat(interrupted).isCompletedWithValue(true);
                });
    }

    private void loseLeadership() {
        MemoryStore.named(store)
                .faults()
                .deleteAsOperator(CurrentGrant.get().orElseThrow().path());
    }

    /** Whether an interrupt comes, which it takes. */
    private static boolean isInterrupted() {
        return isInterrupted(new CountDownLatch(1));
    }

    /** Whether an interrupt comes first. */
    private static boolean isInterrupted(CountDownLatch end) {
        try {
            boolean over = end.await(10, TimeUnit.SECONDS);
            return !over && Thread.interrupted();
        } catch (InterruptedException e) {
            return true;
        }
    }

    @Test
    void leadershipIsGivenUpWhenTheInterruptedMethodHasEnded() {
        CompletableFuture<SessionState> atTheEnd = new CompletableFuture<>();
        CountDownLatch began = new CountDownLatch(1);
        Events events = new Events();
        runner.withBean(Jobs.class).withBean(Events.class, () -> events).run(context -> {
            awaitLeader(context);
            Coordinator coordinator = context.getBean(Coordinator.class);
            Jobs jobs = context.getBean(Jobs.class);
            new Thread(() -> {
                        try {
                            jobs.run(() -> {
                                began.countDown();
                                try {
                                    return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
                                } finally {
                                    atTheEnd.complete(
                                            CurrentGrant.get().orElseThrow().isHeld()
                                                    ? coordinator.state()
                                                    : SessionState.LOST);
                                }
                            });
                        } catch (Exception e) {
                            atTheEnd.completeExceptionally(e); // it is complete by then
                        }
                    })
                    .start();
            began.await();
        });
        assertThat(atTheEnd).isCompletedWithValue(SessionState.CONNECTED);
        assertThat(events.reasons).containsExactly(Optional.empty());
    }

    private interface Ending {
        void end(Leadership leadership, Candidate heir) throws Exception;
    }

    @Test
    void runThatHandsOverIsNotInterruptedByThat() {
        runThatGivesUpIsNotInterrupted(Leadership::handOver);
    }

    @Test
    void runThatResignsIsNotInterruptedByThat() {
        runThatGivesUpIsNotInterrupted((leadership, heir) -> leadership.resign());
    }

    /** Another run, which has not given it up, is interrupted and told. */
    private void runThatGivesUpIsNotInterrupted(Ending ending) {
        runner.withBean(Jobs.class).withBean(Events.class).run(context -> {
            awaitLeader(context);
            Jobs jobs = context.getBean(Jobs.class);
            CountDownLatch began = new CountDownLatch(1);
            CompletableFuture<Throwable> other = new CompletableFuture<>();
            new Thread(() -> {
                        try {
                            jobs.run(() -> {
                                began.countDown();
                                return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
                            });
                        } catch (Exception e) {
                            other.complete(e);
                        }
                    })
                    .start();
            began.await();
            Faults faults = MemoryStore.named(store).faults();
            long session =
                    RecipeAccess.session(context.getBean(Coordinator.class)).id();
            Events events = context.getBean(Events.class);
            try (Coordinator heirs = Coordinator.connect("memory:" + store)) {
                LeaderElection election = LeaderElection.at(heirs, PATH);
                election.campaignAsync();
                await().until(() -> election.candidates().size() == 2);
                Candidate heir = election.candidates().get(1);
                faults.onNext(session, request -> request instanceof Multi, RequestFate.HOLD_REPLY);
                new Thread(
                                () -> { // the reply comes when everybody knows of the end
                                    await().until(() -> other.isDone() && !events.reasons.isEmpty());
                                    faults.releaseReplies(session);
                                })
                        .start();
                Optional<Boolean> isInterrupted = jobs.run(() -> {
                    Leadership leadership = context.getBean(LeaderElections.class)
                            .leadership(PATH)
                            .orElseThrow();
                    ending.end(leadership, heir);
                    return Thread.currentThread().isInterrupted();
                });
                assertThat(isInterrupted).contains(false);
            }
            assertThat(other.get()).isInstanceOf(GrantLostException.class);
            assertThat(events.reasons).containsExactly(Optional.empty());
        });
    }

    /** A scheduler uses its threads again: another run of the same thread has given nothing up. */
    @Test
    void runAfterTheOneThatHandsOverIsInterruptedOnTheSameThread() {
        runner.withBean(Jobs.class).run(context -> {
            awaitLeader(context);
            Jobs jobs = context.getBean(Jobs.class);
            ExecutorService thread = Executors.newSingleThreadExecutor();
            try (Coordinator heirs = Coordinator.connect("memory:" + store)) {
                NodePath stubborn = heirs.execute(
                                Create.of(NodePath.of(PATH + "/_c_00000000-0000-0000-0000-000000000000-lock-"))
                                        .withMode(CreateMode.EPHEMERAL_SEQUENTIAL))
                        .path();
                LeaderElection election = LeaderElection.at(heirs, PATH);
                CompletableFuture<Leadership> heir = election.campaignAsync();
                await().atMost(PATIENCE).until(() -> election.candidates().size() == 3);
                Candidate named = election.candidates().get(2);
                CompletableFuture<Void> handedOver = thread.submit(
                                () -> jobs.run(() -> context.getBean(LeaderElections.class)
                                                .leadership(PATH)
                                                .orElseThrow()
                                                .handOverAsync(named))
                                        .orElseThrow())
                        .get();
                CountDownLatch began = new CountDownLatch(1);
                Future<Optional<Boolean>> next = thread.submit(() -> jobs.run(() -> {
                    began.countDown();
                    return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
                }));
                began.await();
                assertThat(handedOver).isNotDone();
                heirs.execute(Delete.of(stubborn));
                heir.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThatThrownBy(() -> next.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .hasCauseInstanceOf(GrantLostException.class);
                handedOver.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } finally {
                thread.shutdownNow();
            }
        });
    }

    @Test
    void listenersOfTheEndAreNotInterrupted() {
        CountDownLatch granted = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        runner.withBean(Jobs.class)
                .withBean(Events.class, () -> new Events() {
                    @Override
                    void on(LeadershipGrantedEvent event) {
                        granted.countDown();
                        if (isInterrupted()) { // by the end of the leadership
                            Thread.currentThread().interrupt();
                        }
                    }

                    @Override
                    void on(LeadershipRevokedEvent event) {
                        interrupted.complete(Thread.currentThread().isInterrupted());
                    }
                })
                .run(context -> {
                    granted.await(); // a leader that is stopped before it has heard of it tells nobody
                    context.getBean(LeaderElections.class).stop();
                });
        assertThat(interrupted).isCompletedWithValue(false);
    }

    @Test
    void runThatClosesItsOwnApplicationIsNeitherInterruptedNorWaitedFor() {
        List<String> stops = new CopyOnWriteArrayList<>();
        ManualTimeSource standing = new ManualTimeSource(); // so that a wait for the session timeout would not end
        MemoryStore.named(store, standing);
        runner.withBean(Jobs.class)
                .withBean("webServer", SmartLifecycle.class, () -> new WebServerLike(stops))
                .withBean(CoordinatorBuilderCustomizer.class, () -> builder -> builder.timeSource(standing))
                .run(context -> {
                    awaitLeader(context);
                    Jobs jobs = context.getBean(Jobs.class);
                    ConfigurableApplicationContext own = context.getSourceApplicationContext();
                    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
                    new Thread(() -> {
                                try {
                                    jobs.run(() -> jobs.run(() -> {
                                        own.close();
                                        return interrupted.complete(
                                                Thread.currentThread().isInterrupted());
                                    }));
                                } catch (Exception e) {
                                    interrupted.completeExceptionally(e); // it is complete by then
                                }
                            })
                            .start();
                    assertThat(interrupted).succeedsWithin(PATIENCE).isEqualTo(false);
                    assertThat(stops).containsExactly("web server");
                });
    }

    @Test
    void listenerOfTheEndMayCloseTheApplication() {
        CompletableFuture<String> closed = new CompletableFuture<>();
        runner.withPropertyValues("conclave.session-timeout=10m")
                .withBean(Jobs.class)
                .withInitializer(own -> own.addApplicationListener(event -> {
                    if (event instanceof LeadershipRevokedEvent) {
                        own.close();
                        closed.complete("closed");
                    }
                }))
                .run(context -> {
                    awaitLeader(context);
                    assertThatThrownBy(() -> context.getBean(Jobs.class).run(() -> {
                                loseLeadership();
                                return isInterrupted();
                            }))
                            .isInstanceOf(GrantLostException.class);
                    assertThat(closed).succeedsWithin(PATIENCE);
                });
    }

    @Test
    void electionsStopTogetherWithinOneSessionTimeout() {
        ManualTimeSource clock = new ManualTimeSource();
        MemoryStore.named(store, clock);
        CountDownLatch enough = new CountDownLatch(1);
        List<String> paths =
                IntStream.range(0, 40).mapToObj(i -> "/elections/" + i).toList();
        runner.withPropertyValues("conclave.elections=" + String.join(",", paths), "conclave.session-timeout=10s")
                .withBean(CoordinatorBuilderCustomizer.class, () -> builder -> builder.timeSource(clock))
                .withBean(Events.class, () -> new Events() {
                    @Override
                    void on(LeadershipRevokedEvent event) {
                        assertThat(isInterrupted(enough)).isFalse();
                    }
                })
                .run(context -> {
                    LeaderElections elections = context.getBean(LeaderElections.class);
                    await().until(() -> paths.stream().allMatch(elections::isLeader));
                    long begun = clock.monotonicNanos();
                    CompletableFuture<Void> stopped = CompletableFuture.runAsync(elections::stop);
                    try {
                        clock.advanceUntil(Duration.ofMillis(100), stopped::isDone);
                    } finally {
                        enough.countDown();
                    }
                    assertThat(Duration.ofNanos(clock.monotonicNanos() - begun))
                            .isLessThan(Duration.ofSeconds(350)); // 400 if one by one; a busy machine is slow
                });
    }

    @Test
    void leadershipEndsBeforeTheWebServerStops() {
        List<String> stops = new CopyOnWriteArrayList<>();
        runner.withBean(Jobs.class)
                .withBean("webServer", SmartLifecycle.class, () -> new WebServerLike(stops))
                .withBean(Events.class, () -> new Events() {
                    @Override
                    void on(LeadershipRevokedEvent event) {
                        stops.add("leadership");
                    }
                })
                .run(LeaderOnlyTest::awaitLeader);
        assertThat(stops).containsExactly("leadership", "web server");
    }

    /** Has the phase of Boot's graceful shutdown, which comes before the stop of the web server itself. */
    private record WebServerLike(List<String> stops) implements SmartLifecycle {
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

    /** Its last work is the leader's. */
    static class Closing implements DisposableBean {
        private final Jobs jobs;
        private final CompletableFuture<Optional<String>> last = new CompletableFuture<>();

        Closing(Jobs jobs) {
            this.jobs = jobs;
        }

        @Override
        public void destroy() {
            try {
                last.complete(jobs.run(() -> "run"));
            } catch (Exception e) {
                last.completeExceptionally(e);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClosingBeans {
        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        Closing closing(Jobs jobs) {
            return new Closing(jobs);
        }
    }

    @Test
    void methodIsSkippedWhileItsCallerIsDestroyed() {
        AtomicReference<Closing> closing = new AtomicReference<>();
        runner.withUserConfiguration(ClosingBeans.class).run(context -> {
            awaitLeader(context);
            closing.set(context.getBean(Closing.class));
        });
        assertThat(closing.get().last).isCompletedWithValue(Optional.empty());
    }

    @Test
    void scheduledMethodRunsInOneProcessAtATime() {
        runner.withUserConfiguration(Scheduling.class).withBean(Ticks.class).run(first -> {
            awaitLeader(first);
            runner.withUserConfiguration(Scheduling.class).withBean(Ticks.class).run(second -> {
                await().until(() -> first.getBean(Ticks.class).tokens().size() > 3);
                await().until(() -> LeaderElection.at(second.getBean(Coordinator.class), PATH)
                                .candidates()
                                .size()
                        == 2);
                assertThat(second.getBean(Ticks.class).tokens()).isEmpty();
                first.getBean(LeaderElections.class).stop();
                int last = first.getBean(Ticks.class).tokens().size();
                await().until(() -> second.getBean(Ticks.class).tokens().size() > 3);
                List<FencingToken> ticks = first.getBean(Ticks.class).tokens();
                assertThat(ticks).hasSize(last);
                assertThat(second.getBean(Ticks.class).tokens()).allMatch(token -> token.compareTo(ticks.get(0)) > 0);
            });
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    static class Ticks {
        final List<FencingToken> tokens = new CopyOnWriteArrayList<>();

        public List<FencingToken> tokens() {
            return tokens;
        }

        @Scheduled(fixedDelay = 5)
        @LeaderOnly(PATH)
        public void tick() {
            tokens.add(CurrentGrant.get().orElseThrow().token());
        }
    }

    @Test
    void electionsOfPropertiesAreJoinedToo() {
        runner.withPropertyValues("conclave.elections=/elections/a,/elections/b")
                .run(context -> {
                    LeaderElections elections = context.getBean(LeaderElections.class);
                    await().until(() -> elections.isLeader("/elections/a") && elections.isLeader("/elections/b"));
                    assertThat(elections.isLeader(PATH)).isFalse();
                });
        runner.withPropertyValues("conclave.elections=no-slash").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure()).hasStackTraceContaining("conclave.elections");
        });
    }

    @Test
    void startFailsWithSeveralCoordinatorsOfWhichNoneIsPrimary() {
        ApplicationContextRunner two = runner.withBean("one", Coordinator.class, this::coordinator)
                .withBean("two", Coordinator.class, this::coordinator);
        two.withBean(Jobs.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .isInstanceOf(NoUniqueBeanDefinitionException.class)
                    .hasMessageContaining("@LeaderOnly on ")
                    .hasMessageContaining("needs one coordinator, and there are several: one, two");
        });
        two.withPropertyValues("conclave.elections=/elections/a").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure()).hasStackTraceContaining("conclave.elections");
        });
        two.run(context -> assertThat(context).hasNotFailed());
    }

    private Coordinator coordinator() {
        return Coordinator.start("memory:" + store);
    }

    @Test
    void primaryCoordinatorIsUsed() {
        runner.withBean("one", Coordinator.class, this::coordinator)
                .withBean("two", Coordinator.class, this::coordinator, definition -> definition.setPrimary(true))
                .withBean(Jobs.class)
                .run(LeaderOnlyTest::awaitLeader);
    }

    @Test
    void failingListenerEndsNoLeadership() {
        runner.withBean(Jobs.class)
                .withBean(Events.class, () -> new Events() {
                    @Override
                    void on(LeadershipGrantedEvent event) {
                        Thread.interrupted();
                        throw new IllegalStateException("of a listener, on purpose");
                    }
                })
                .run(context -> {
                    awaitLeader(context);
                    assertThat(context.getBean(Jobs.class).text()).isEqualTo("run");
                });
    }

    @Test
    void applicationStartsWhileTheServersAreDown() {
        runner.withPropertyValues("conclave.connect-string=conclave://127.0.0.1:1")
                .withBean(Jobs.class)
                .run(context -> assertThat(context.getBean(Jobs.class).text()).isNull());
    }

    @Test
    void methodsThatCannotBeSkippedAreRefused() {
        runner.withBean(Primitive.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("Invalid @LeaderOnly on ")
                    .hasStackTraceContaining("it returns the primitive type long");
        });
    }

    static class Primitive {
        @LeaderOnly(PATH)
        public long run() {
            return 1;
        }
    }
}
