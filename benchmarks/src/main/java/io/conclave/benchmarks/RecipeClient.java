package io.conclave.benchmarks;

/** One session with the server, and the recipes of a library on it. Everything blocks. */
interface RecipeClient extends AutoCloseable {
    /**
     * A mutex at a path, to be used by one thread.
     *
     * @param awaitRelease whether releasing returns when the server has confirmed it, or at once where the library can do that
     */
    Mutex mutex(String path, boolean awaitRelease);

    /**
     * Stands for election.
     *
     * @param elected called on some thread when this client leads
     */
    void campaign(String path, Runnable elected);

    /** A place in a double barrier of so many, to be used by one thread. */
    Crossing doubleBarrier(String path, int participants);

    /** Closes the session, without resigning first. */
    @Override
    void close();

    /** A mutex as both libraries have it. */
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
