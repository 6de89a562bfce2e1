package io.conclave.benchmarks;

import java.util.List;
import java.util.function.Consumer;

/** One session with the server, and the recipes of a library on it. Everything blocks. */
interface RecipeClient extends AutoCloseable {
    /**
     * A mutex at a path, to be used by one thread.
     *
     * @param awaitRelease whether releasing returns when the server has confirmed it, or at once where the library can
     *     do that
     */
    Mutex mutex(String path, boolean awaitRelease);

    /** Mutexes at these paths as one lock, to be used by one thread. */
    Mutex multiLock(List<String> paths);

    /** One permit of a semaphore that has so many, to be used by one thread. */
    Mutex semaphore(String path, int permits);

    /**
     * Stands for election.
     *
     * @param elected called on some thread when this client leads
     */
    void campaign(String path, Runnable elected);

    /** A place in a double barrier of so many, to be used by one thread. */
    Crossing doubleBarrier(String path, int participants);

    /** A queue's producer, to be used by several threads. */
    Producer producer(String path, QueueCase.Kind kind);

    /**
     * Takes items out of a queue until this client is closed, on threads of its own: each at most once, or if it is a
     * claimed queue, at least once.
     *
     * @param onItem called for each
     */
    void consume(String path, QueueCase queueCase, Consumer<byte[]> onItem);

    /** Closes the session, without resigning first. */
    @Override
    void close();

    /** A queue's producer as both libraries have it. */
    interface Producer {
        /** Puts an item; its priority is one of a few. */
        void put(byte[] item, int priority) throws Exception;
    }

    /** A mutex, or what is used like one, as both libraries have it. */
    interface Mutex {
        /** Waits for the lock without a limit of time. */
        Held acquire() throws Exception;
    }

    /** What was acquired. */
    interface Held {
        /** Gives it back. */
        void release() throws Exception;
    }

    /** A way through a double barrier, as both libraries have it. */
    interface Crossing {
        /** Waits until all are there. */
        void enter() throws Exception;

        /** Waits until all have left. */
        void leave() throws Exception;
    }
}
