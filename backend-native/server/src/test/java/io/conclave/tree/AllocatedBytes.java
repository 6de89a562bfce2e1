package io.conclave.tree;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts work by what it allocates, since that is the same on a busy machine. */
public final class AllocatedBytes {
    private AllocatedBytes() {}

    /** Of the thread that calls this. */
    public static long of(Runnable work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(thread);
        work.run();
        return threads.getThreadAllocatedBytes(thread) - before;
    }
}
