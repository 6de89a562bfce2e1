package io.conclave.benchmarks;

/** One session with the server, and the recipes of a library on it. Everything blocks. */
interface RecipeClient extends AutoCloseable {
    /** A mutex at a path, to be used by one thread. */
    Mutex mutex(String path);

    /** Closes the session. */
    @Override
    void close();

    /** A mutex as both libraries have it. */
    interface Mutex {
        /** Waits for the lock without a limit of time. */
        Held acquire() throws Exception;
    }

    /** What was acquired. */
    interface Held {
        /** Returns when the server has confirmed it. */
        void release() throws Exception;
    }
}
