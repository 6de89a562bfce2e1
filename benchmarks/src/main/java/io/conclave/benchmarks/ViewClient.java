package io.conclave.benchmarks;

import java.util.function.IntConsumer;

/** One session with the server, and the views of a library on it. Everything blocks. */
interface ViewClient extends AutoCloseable {
    /** Joins a group and follows who is in it. */
    Joined join(String group, String id);

    /**
     * Caches a znode's children.
     *
     * @param loaded called when all are there
     * @param changed called with how many have changed, after that
     */
    void cache(String parent, Runnable loaded, IntConsumer changed);

    @Override
    void close();

    /** A member that sees the others. */
    interface Joined {
        /** How many members it sees, itself included. */
        int seen();

        /** Leaves, and follows no more. */
        void leave();
    }
}
