package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each fault at each request of the module's recipes. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class ConfigFaultsTest {
    private static final ConfigKey<String> ONE = ConfigKey.ofText("one");
    private static final ConfigKey<String> TWO = ConfigKey.ofText("deep/two");

    private static SharedCounter counter(Actor actor) {
        return SharedCounter.at(actor.coordinator(), "/faults/counter");
    }

    private static SharedValue<String> value(Actor actor) {
        return SharedValue.at(actor.coordinator(), "/faults/value", DataCodec.TEXT);
    }

    private static Configuration configuration(Coordinator coordinator) {
        return Configuration.at(coordinator, "/faults/config");
    }

    static FaultDriver counter() {
        AtomicInteger surely = new AtomicInteger();
        AtomicInteger perhaps = new AtomicInteger();
        return FaultDriver.of("counter", run -> {
                    surely.set(2);
                    perhaps.set(0);
                    counter(run.helper("first")).add(1);
                    run.rival("adds", me -> {
                        counter(me).add(1);
                        surely.incrementAndGet();
                    });
                    run.victim().start(me -> {
                        for (int i = 0; i < 3; i++) {
                            perhaps.incrementAndGet();
                            counter(me).add(1);
                            perhaps.decrementAndGet();
                            surely.incrementAndGet();
                        }
                    });
                    run.helper("second").start(me -> counter(me).add(1));
                })
                .afterwards(run -> {
                    long count = counter(run.helper("looking")).get();
                    if (count < surely.get() || count > surely.get() + perhaps.get()) {
                        run.violated("counted " + count + ", added " + surely + " and perhaps " + perhaps);
                    }
                });
    }

    @Test
    void everyAdditionCountsOnceOrFailed() {
        counter().verify();
    }

    @Test
    void everyAdditionOfSeveralCallersCountsOnceOrFailed() {
        AtomicInteger surely = new AtomicInteger();
        AtomicInteger perhaps = new AtomicInteger();
        FaultDriver.of("counter, several callers", run -> {
                    surely.set(1);
                    perhaps.set(0);
                    counter(run.helper("first")).add(1);
                    run.rival("adds", me -> {
                        counter(me).add(1);
                        surely.incrementAndGet();
                    });
                    run.victim().start(me -> {
                        perhaps.set(6);
                        List<CompletableFuture<Long>> calls = new ArrayList<>();
                        for (int i = 0; i < 6; i++) {
                            calls.add(counter(me).addAsync(1));
                        }
                        Set<Long> sums = new HashSet<>();
                        for (CompletableFuture<Long> call : calls) {
                            if (!sums.add(me.await(call))) {
                                run.violated("two have one sum: " + call.join());
                            }
                            perhaps.decrementAndGet();
                            surely.incrementAndGet();
                        }
                    });
                })
                .afterwards(run -> {
                    long count = counter(run.helper("looking")).get();
                    if (count < surely.get() || count > surely.get() + perhaps.get()) {
                        run.violated("counted " + count + ", added " + surely + " and perhaps " + perhaps);
                    }
                })
                .verify();
    }

    static FaultDriver compareAndSet() {
        List<String> winners = Collections.synchronizedList(new ArrayList<>());
        AtomicReference<String> unknown = new AtomicReference<>("");
        return FaultDriver.of("shared value, compare and set", run -> {
                    winners.clear();
                    unknown.set("");
                    Versioned<String> start = value(run.helper("first")).set("start");
                    run.rival("is quicker if it can", me -> value(me)
                            .compareAndSet(start, "rival")
                            .ifPresent(written -> winners.add(written.value())));
                    run.victim().start(me -> {
                        unknown.set("victim");
                        Optional<Versioned<String>> won = value(me).compareAndSet(start, "victim");
                        unknown.set("");
                        won.ifPresent(written -> winners.add(written.value()));
                    });
                    run.helper("second").start(me -> value(me)
                            .compareAndSet(start, "helper")
                            .ifPresent(written -> winners.add(written.value())));
                })
                .explaining(OutcomeUnknownException.class, Fault.values())
                .afterwards(run -> {
                    String now =
                            value(run.helper("looking")).get().orElseThrow().value();
                    boolean fits = winners.equals(List.of(now)) || (winners.isEmpty() && now.equals(unknown.get()));
                    if (!fits) {
                        run.violated("winners " + winners + ", unknown \"" + unknown + "\", there is " + now);
                    }
                });
    }

    @Test
    void compareAndSetHasOneWinner() {
        compareAndSet().verify();
    }

    @Test
    void valueThatWasSetIsThere() {
        AtomicInteger set = new AtomicInteger();
        FaultDriver.of("shared value, set", run -> {
                    set.set(0);
                    run.victim().start(me -> {
                        for (int i = 1; i <= 3; i++) {
                            value(me).set("v" + i);
                            set.set(i);
                        }
                    });
                })
                .afterwards(run -> {
                    String now = value(run.helper("looking"))
                            .get()
                            .map(Versioned::value)
                            .orElse("v0");
                    if (!now.equals("v" + set) && !now.equals("v" + (set.get() + 1))) {
                        run.violated("set up to v" + set + ", there is " + now);
                    }
                })
                .verify();
    }

    static FaultDriver valueReplacedByOthers() {
        return FaultDriver.of("shared value, set and replaced by others", run -> {
                    Actor helper = run.helper("helper");
                    value(helper).set("start");
                    AtomicBoolean wasReplaced = new AtomicBoolean();
                    run.rival("replaces it", me -> replace(me, "a", wasReplaced));
                    run.rival("replaces it twice", me -> {
                        replace(me, "b", wasReplaced);
                        replace(me, "c", wasReplaced);
                    });
                    run.victim().start(me -> value(me).set("victim"));
                    run.victim().join();
                    run.settle();
                    if (wasReplaced.get() && holds(helper, "victim")) {
                        run.violated("one call has set it twice");
                    }
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void replacedValueIsNotSetAgainByTheSameCall() {
        valueReplacedByOthers().verify();
    }

    private static boolean holds(Actor me, String text) throws InterruptedException {
        return value(me).get().map(Versioned::value).filter(text::equals).isPresent();
    }

    private static void replace(Actor me, String text, AtomicBoolean wasReplaced) throws InterruptedException {
        wasReplaced.compareAndSet(false, holds(me, "victim"));
        value(me).set(text);
    }

    static FaultDriver valueRemovedAndSetByOthers() {
        return FaultDriver.of("shared value, removed and set by others", run -> {
                    Actor helper = run.helper("helper");
                    value(helper).set("start");
                    AtomicInteger setAfterRemoval = new AtomicInteger();
                    run.rival("sets it if it is gone", me -> {
                        if (value(me).get().isEmpty()) {
                            value(me).set("later");
                            setAfterRemoval.incrementAndGet();
                        }
                    });
                    run.rival("sets it twice", me -> {
                        boolean isGone = value(me).get().isEmpty();
                        value(me).set("later");
                        value(me).set("latest");
                        setAfterRemoval.addAndGet(isGone ? 1 : 0);
                    });
                    run.victim().start(me -> value(me).remove());
                    run.victim().join();
                    run.settle();
                    if (setAfterRemoval.get() > 0 && value(helper).get().isEmpty()) {
                        run.violated("one call has removed two values");
                    }
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void valueSetSinceIsNotRemovedByTheSameCall() {
        valueRemovedAndSetByOthers().verify();
    }

    static FaultDriver publicationReplacedByOthers() {
        return FaultDriver.of("configuration, published and replaced by others", run -> {
                    Configuration helper = configuration(run.helper("helper").coordinator());
                    helper.publish(ConfigBatch.setting(ONE, "start"));
                    AtomicBoolean wasReplaced = new AtomicBoolean();
                    run.rival("publishes twice", me -> {
                        Configuration configuration = configuration(me.coordinator());
                        wasReplaced.compareAndSet(false, configuration.get(ONE).equals(Optional.of("victim")));
                        configuration.publish(ConfigBatch.setting(ONE, "rival"));
                        configuration.publish(ConfigBatch.setting(ONE, "rival again"));
                    });
                    run.victim()
                            .start(me -> configuration(me.coordinator()).publish(ConfigBatch.setting(ONE, "victim")));
                    run.victim().join();
                    run.settle();
                    if (wasReplaced.get() && helper.get(ONE).equals(Optional.of("victim"))) {
                        run.violated("one call has published twice");
                    }
                })
                .explaining(OutcomeUnknownException.class, Fault.absences());
    }

    @Test
    void replacedPublicationIsNotPublishedAgainByTheSameCall() {
        publicationReplacedByOthers().verify();
    }

    @Test
    void publicationIsThereWholeOrNotAtAll() {
        AtomicReference<Boolean> published = new AtomicReference<>(false);
        FaultDriver.of("configuration, publication", run -> {
                    published.set(false);
                    Configuration first = configuration(run.helper("first").coordinator());
                    first.publish(ConfigBatch.setting(ONE, "old").set(TWO, "old"));
                    run.victim()
                            .start(me -> published.set(configuration(me.coordinator())
                                    .publish(ConfigBatch.setting(ONE, "new")
                                            .set(TWO, "new")
                                            .set(ConfigKey.ofText("three"), "new"))));
                })
                .afterwards(run -> {
                    // an interrupted publication may still be under way, and keys are read one by one
                    run.settle();
                    Configuration looking = configuration(run.helper("looking").coordinator());
                    Optional<String> one = looking.get(ONE);
                    Optional<String> three = looking.get(ConfigKey.ofText("three"));
                    boolean isNew = one.equals(Optional.of("new"));
                    if (!one.equals(looking.get(TWO)) || isNew != three.isPresent() || (published.get() && !isNew)) {
                        run.violated("published: " + published + ", there is " + one + ", " + looking.get(TWO) + ", "
                                + three);
                    }
                })
                .verify();
    }

    static FaultDriver uniqueIds() {
        List<Long> given = Collections.synchronizedList(new ArrayList<>());
        return FaultDriver.of("unique ids", run -> {
                    given.clear();
                    run.rival("takes ids", me -> {
                        UniqueIds ids =
                                UniqueIds.at(me.coordinator(), "/faults/ids").withBlockSize(2);
                        given.add(ids.next());
                        given.add(ids.next());
                        given.add(ids.next());
                    });
                    run.victim().start(me -> {
                        UniqueIds ids =
                                UniqueIds.at(me.coordinator(), "/faults/ids").withBlockSize(2);
                        for (int i = 0; i < 5; i++) {
                            given.add(ids.next());
                        }
                    });
                    run.helper("other").start(me -> {
                        UniqueIds ids =
                                UniqueIds.at(me.coordinator(), "/faults/ids").withBlockSize(2);
                        for (int i = 0; i < 5; i++) {
                            given.add(ids.next());
                        }
                    });
                })
                .requestsAtMost(4, 20)
                .afterwards(run -> {
                    if (new HashSet<>(given).size() != given.size()) {
                        run.violated("given twice: " + given);
                    }
                });
    }

    @Test
    void noIdIsGivenTwice() {
        uniqueIds().verify();
    }

    @Test
    void idsAreGivenOutUnderEveryFault() {
        FaultDriver.of("sequence persister", run -> {
                    Reservation inMemory = new Reservation() {
                        private long bound;

                        @Override
                        public synchronized long upperBound() {
                            return bound;
                        }

                        @Override
                        public synchronized void raise(long upperBound) {
                            bound = Math.max(bound, upperBound);
                        }
                    };
                    run.rival("keeps it as well", me -> {
                        try (SequencePersister other =
                                SequencePersister.start(me.coordinator(), "/faults/sequence", inMemory, 4)) {
                            me.await(other.ready());
                        }
                    });
                    run.victim()
                            .start(me -> SequencePersister.start(me.coordinator(), "/faults/sequence", inMemory, 4));
                    run.helper("worker").start(me -> {
                        UniqueIds ids = UniqueIds.persisted(me.coordinator(), "/faults/sequence")
                                .withBlockSize(2);
                        long last = -1;
                        for (int i = 0; i < 8; i++) {
                            long id = ids.next();
                            if (id <= last || id >= inMemory.upperBound()) {
                                run.violated(
                                        "after " + last + " came " + id + ", the bound is " + inMemory.upperBound());
                            }
                            last = id;
                        }
                    });
                })
                .within(Duration.ofMinutes(3))
                .requestsAtMost(8, 60)
                .verify();
    }

    private static FaultDriver cache(String name, boolean persistentWatches) {
        AtomicReference<ConfigView> view = new AtomicReference<>();
        AtomicReference<String> told = new AtomicReference<>("");
        List<String> torn = Collections.synchronizedList(new ArrayList<>());
        return FaultDriver.of(name, run -> {
                    if (!persistentWatches) {
                        run.store().faults().withoutPersistentWatches();
                    }
                    told.set("");
                    torn.clear();
                    Configuration writing = configuration(run.helper("writing").coordinator());
                    writing.publish(ConfigBatch.setting(ONE, "1").set(TWO, "1"));
                    run.rival("publishes another state and the former one", me -> {
                        Configuration configuration = configuration(me.coordinator());
                        Optional<String> before = configuration.get(ONE);
                        configuration.publish(ConfigBatch.setting(ONE, "rival").set(TWO, "rival"));
                        configuration.publish(
                                before.isEmpty()
                                        ? ConfigBatch.EMPTY.remove(ONE).remove(TWO)
                                        : ConfigBatch.setting(ONE, before.get()).set(TWO, before.get()));
                    });
                    run.victim().start(me -> {
                        view.set(configuration(me.coordinator()).view());
                        view.get().onChange(update -> {
                            Optional<String> one = update.snapshot().get(ONE);
                            Optional<String> two = update.snapshot().get(TWO);
                            told.set(one.orElse("-"));
                            if (!one.equals(two)) {
                                torn.add(one + " and " + two);
                            }
                        });
                    });
                    run.untilAtRest();
                    writing.publish(ConfigBatch.setting(ONE, "2").set(TWO, "2"));
                    run.untilAtRest();
                    writing.publish(ConfigBatch.EMPTY.remove(ONE).remove(TWO));
                    run.untilAtRest();
                    writing.publish(ConfigBatch.setting(ONE, "3").set(TWO, "3").set(ConfigKey.ofText("new/key"), "3"));
                })
                .requestsAtMost(5, 30) // it reads all again, on every connection
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40)); // until the next session, should this one have been lost
                    run.untilAtRest();
                    ConfigSnapshot last = view.get().snapshot();
                    boolean isRight = last.get(ONE).equals(Optional.of("3"))
                            && last.names().size() == 3
                            && view.get().isCurrent()
                            && told.get().equals("3");
                    if (!isRight) {
                        run.violated("the view ends with " + view + ", its listener was told last " + told);
                    }
                    torn.forEach(run::violated);
                });
    }

    @Test
    void viewEndsWithWhatIsThereAndTearsNothing() {
        cache("configuration, view", true).verify();
    }

    @Test
    void viewByOneShotWatchesEndsWithWhatIsThereAndTearsNothing() {
        cache("configuration, view by one-shot watches", false).verify();
    }

    @Test
    void nodeCacheEndsWithWhatIsThere() {
        AtomicReference<NodeCache> cache = new AtomicReference<>();
        FaultDriver.of("node cache", run -> {
                    Actor writing = run.helper("writing");
                    run.rival("deletes it and makes it again", me -> {
                        Optional<Versioned<String>> before = value(me).get();
                        run.store().faults().deleteAsOperator(NodePath.of("/faults/value"));
                        if (before.isPresent()) {
                            value(me).set(before.get().value());
                        }
                    });
                    run.victim().start(me -> cache.set(NodeCache.at(me.coordinator(), "/faults/value")));
                    run.untilAtRest();
                    value(writing).set("1");
                    run.untilAtRest();
                    run.store().faults().deleteAsOperator(NodePath.of("/faults/value"));
                    run.untilAtRest();
                    value(writing).set("2");
                })
                .requestsAtMost(5, 30)
                .afterwards(run -> {
                    run.pause(Duration.ofSeconds(40));
                    run.untilAtRest();
                    boolean isRight = cache.get()
                            .node()
                            .filter(node ->
                                    new String(node.data(), java.nio.charset.StandardCharsets.UTF_8).equals("2"))
                            .isPresent();
                    if (!isRight || !cache.get().isCurrent()) {
                        run.violated("the cache ends with " + cache);
                    }
                })
                .explaining(SessionGoneException.class)
                .verify();
    }
}
