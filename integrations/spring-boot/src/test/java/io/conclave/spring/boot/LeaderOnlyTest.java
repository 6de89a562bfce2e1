package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.error.GrantLostException;
import io.conclave.grant.FencedGrant;
import io.conclave.grant.FencingToken;
import io.conclave.locks.DistributedLock;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

class LeaderOnlyTest extends LeaderOnlyFixture {
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
            assertThat(List.copyOf(seen).subList(0, 2))
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

    @Configuration(proxyBeanMethods = false)
    static class ClosingBeans {
        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        LastCall closing(Jobs jobs) {
            return new LastCall(() -> jobs.run(() -> "run"));
        }
    }

    @Test
    void methodIsSkippedWhileItsCallerIsDestroyed() {
        AtomicReference<LastCall> closing = new AtomicReference<>();
        runner.withUserConfiguration(ClosingBeans.class).run(context -> {
            awaitLeader(context);
            closing.set(context.getBean(LastCall.class));
        });
        assertThat(closing.get().answer).isCompletedWithValue(Optional.empty());
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
    void startFailsWithoutTheRecipeRatherThanRunInEveryProcess() {
        ApplicationContextRunner without = runner.withClassLoader(new FilteredClassLoader(LeaderElection.class));
        without.run(context -> assertThat(context).hasNotFailed());
        without.withBean(Jobs.class).run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("Invalid @LeaderOnly on ")
                    .hasStackTraceContaining(
                            "add conclave-recipes-election (on the module path: requires" + " io.conclave.election)");
        });
        without.withPropertyValues("conclave.elections=/elections/listed").run(context -> {
            assertThat(context).hasFailed();
            assertThat(context.getStartupFailure())
                    .hasStackTraceContaining("conclave.elections")
                    .hasStackTraceContaining("add conclave-recipes-election");
        });
    }

    @Test
    void startNeedsNoAutoConfigurationOfTheCoordinator() {
        ApplicationContextRunner without = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(LeaderElectionAutoConfiguration.class));
        without.run(context -> assertThat(context).hasNotFailed());
        without.withBean(Coordinator.class, this::coordinator)
                .withPropertyValues("conclave.elections=" + PATH)
                .run(LeaderOnlyFixture::awaitLeader);
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
