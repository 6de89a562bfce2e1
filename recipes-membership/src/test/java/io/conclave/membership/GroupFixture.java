package io.conclave.membership;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.node.DataCodec;
import io.conclave.spi.SessionState;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.contract.StoreUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;

/** Where the tests of the group's contract work: coordinators that are closed after each of them, and threads. */
abstract class GroupFixture implements StoreUnderTest {
    static final String PATH = "/groups/workers";
    private static final Duration TICK = Duration.ofMillis(10);
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Coordinator> coordinators = Collections.synchronizedList(new ArrayList<>());
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() {
        threads.shutdownNow();
        coordinators.forEach(Coordinator::close);
        timer.shutdownNow();
    }

    /** Its reads see what other coordinators have written, also where servers lag: the recipes do not depend on that, the tests do. */
    final CoordinatorBuilder builder() {
        return Coordinator.builder(connectString())
                .sessionTimeout(sessionTimeout())
                .linearizableReads(true);
    }

    final Coordinator connect() {
        return opened(builder());
    }

    final Coordinator opened(CoordinatorBuilder builder) {
        Coordinator coordinator = builder.connect();
        coordinators.add(coordinator);
        return coordinator;
    }

    static Group<String> groupOf(Coordinator coordinator) {
        return Group.at(coordinator, PATH, DataCodec.TEXT);
    }

    static List<String> ids(List<Member<String>> members) {
        return members.stream().map(Member::id).toList();
    }

    /** The members with their payloads. */
    static List<String> texts(Iterable<Member<String>> members) {
        List<String> texts = new ArrayList<>();
        members.forEach(member -> texts.add(member.id() + "=" + member.payload()));
        return texts;
    }

    static void awaitMembers(Coordinator coordinator, String... expected) {
        await().atMost(PATIENCE)
                .until(() -> texts(groupOf(coordinator).members()).equals(List.of(expected)));
    }

    static void awaitSnapshot(GroupView<String> view, String... expected) {
        await().atMost(PATIENCE).until(() -> texts(view.snapshot().members()).equals(List.of(expected)));
    }

    static <T> T get(CompletableFuture<T> stage) throws Exception {
        return stage.get(20, SECONDS);
    }

    /** A clock that goes as the machine's does, and can jump. */
    final ManualTimeSource jumpingClock() {
        ManualTimeSource clock = new ManualTimeSource();
        timer.scheduleAtFixedRate(() -> clock.advance(TICK), 0, TICK.toMillis(), MILLISECONDS);
        return clock;
    }

    /** The clock jumps, so that the coordinator must give its session up by itself, and it has another one; the server knows nothing of that yet. */
    final void loseSession(Coordinator coordinator, ManualTimeSource clock) {
        long lost = coordinator.recipeSession().id();
        clock.advanceWallOnly(sessionTimeout().multipliedBy(3)); // as a suspended machine sees it on waking
        await().atMost(PATIENCE).until(() -> {
            long present = coordinator.recipeSession().id();
            return present != 0 && present != lost && coordinator.state() == SessionState.CONNECTED;
        });
    }

    /** Adds up what a listener is told, and checks that it fits together. */
    static final class Told implements Consumer<GroupUpdate<String>> {
        final List<GroupUpdate<String>> updates = Collections.synchronizedList(new ArrayList<>());
        private final TreeSet<String> ids = new TreeSet<>();
        private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void accept(GroupUpdate<String> update) {
            synchronized (updates) {
                long last = updates.isEmpty()
                        ? 0
                        : updates.get(updates.size() - 1).snapshot().number();
                check(update.since() == last, "the difference is not to the last state: " + update);
                check(update.snapshot().number() > last, "numbers grow: " + update);
                update.left().forEach(member -> check(ids.remove(member.id()), "left, but was not there: " + update));
                update.joined().forEach(member -> check(ids.add(member.id()), "joined, but was there: " + update));
                update.changed()
                        .forEach(member -> check(ids.contains(member.id()), "changed, but not there: " + update));
                check(ids.equals(update.snapshot().byId().keySet()), "the sum is not the state: " + update);
                updates.add(update);
            }
        }

        private void check(boolean holds, String what) {
            if (!holds) {
                problems.add(what);
            }
        }

        List<String> problems() {
            return List.copyOf(problems);
        }

        List<String> last() {
            synchronized (updates) {
                return updates.isEmpty()
                        ? List.of("nothing told")
                        : texts(updates.get(updates.size() - 1).snapshot().members());
            }
        }

        void awaitLast(String... expected) {
            await("told " + updates).atMost(PATIENCE).until(() -> last().equals(List.of(expected)));
        }
    }
}
