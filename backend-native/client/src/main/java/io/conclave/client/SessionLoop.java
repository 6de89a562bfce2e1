package io.conclave.client;

import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;

/** Runs a session's tasks on its event loop, from any thread. */
final class SessionLoop {
    private final EventLoop loop;
    private final Runnable onEnded;

    /**
     * A session's way to its event loop.
     *
     * @param onEnded called on the submitting thread, each time, when a task comes after the end of the event loop
     */
    SessionLoop(EventLoop loop, Runnable onEnded) {
        this.loop = loop;
        this.onEnded = onEnded;
    }

    void execute(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            onEnded.run();
        }
    }

    /** The loop itself, for the channels of the session's connections. */
    EventLoop eventLoop() {
        return loop;
    }
}
