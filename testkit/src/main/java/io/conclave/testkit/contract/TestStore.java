package io.conclave.testkit.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A store in memory that one test has for itself, and the coordinators that it opens on it. After the test they are
 * closed without faults, the last one first, and nothing is left of the store.
 *
 * <p>It is a field of the test: {@code @RegisterExtension final TestStore store = new TestStore();}
 */
public final class TestStore implements AfterEachCallback {
    private static final Duration LONG_SESSION = Duration.ofHours(1);

    private final String name = UUID.randomUUID().toString();
    private final Deque<Coordinator> coordinators = new ConcurrentLinkedDeque<>();

    /** A store that goes by the clocks of its first client, or by the machine's if it is asked for its faults first. */
    public TestStore() {}

    /** A store that goes by this clock, whatever its clients go by. */
    public TestStore(TimeSource clock) {
        MemoryStore.named(name, clock);
    }

    /** What connects to it. */
    public String connectString() {
        return "memory:" + name;
    }

    /** What a coordinator has that is not opened here. */
    public CoordinatorBuilder builder() {
        return Coordinator.builder(connectString());
    }

    /** A coordinator with default settings. */
    public Coordinator connect() {
        return opened(builder());
    }

    /** A coordinator that goes by this clock, with a session of an hour: its heartbeats play no part in the test. */
    public Coordinator connect(TimeSource clock) {
        return opened(builder().sessionTimeout(LONG_SESSION).timeSource(clock));
    }

    /** The coordinator that this makes; it is closed after the test. */
    public Coordinator opened(CoordinatorBuilder builder) {
        return closedLater(builder.connect());
    }

    /** As {@link #opened}, without waiting for its connection. */
    public Coordinator started(CoordinatorBuilder builder) {
        return closedLater(builder.start());
    }

    private Coordinator closedLater(Coordinator coordinator) {
        coordinators.addFirst(coordinator);
        return coordinator;
    }

    /** What may go wrong in it. */
    public Faults faults() {
        return memory().faults();
    }

    /** The store itself. */
    public MemoryStore memory() {
        return MemoryStore.named(name);
    }

    @Override
    public void afterEach(ExtensionContext test) {
        faults().clear();
        coordinators.forEach(Coordinator::close);
        MemoryStore.forget(name);
    }
}
