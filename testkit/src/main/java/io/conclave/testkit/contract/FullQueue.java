package io.conclave.testkit.contract;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.request.Exists;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A client that is told something while its queue of requests is full: what it asks for then is refused at first, and
 * may pass a moment later.
 */
public final class FullQueue {
    private static final int BOUND = 20;

    private final ManualTimeSource clock = new ManualTimeSource();
    private final Coordinator client;
    private final Faults faults;

    /** On this store. */
    public FullQueue(TestStore store) {
        this.faults = store.faults();
        this.client = store.opened(store.builder()
                .sessionTimeout(Duration.ofSeconds(30))
                .timeSource(clock)
                .maxQueuedRequests(BOUND));
    }

    /** The client. */
    public Coordinator client() {
        return client;
    }

    /** The client's session. */
    public long session() {
        return RecipeAccess.session(client).id();
    }

    /** What was sent before is answered when this returns, and so is what follows from it. */
    public void settle() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            client.execute(Exists.of(NodePath.ROOT));
        }
    }

    /** A moment passes, after which what was refused is asked for again, and answered. */
    public void goOn() throws InterruptedException {
        clock.advance(Duration.ofSeconds(1));
        settle();
    }

    /** Replies and events that are held come now, and find the queue full. */
    public void releaseRepliesBeforeThoseOfAFlood() {
        List<CompletableFuture<?>> flood = new ArrayList<>();
        for (int i = 0; i < BOUND; i++) {
            flood.add(client.submit(Exists.of(NodePath.ROOT)).handle((stat, failure) -> stat));
        }
        faults.releaseReplies(session());
        flood.forEach(CompletableFuture::join);
    }
}
