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
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;

/** How the leadership of an application ends by itself, and what its runs and listeners see of it. */
class LeaderOnlyEndTest extends LeaderOnlyFixture {
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
}
