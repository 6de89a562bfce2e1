package io.conclave.coordinator;

import java.lang.reflect.Method;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/**
 * Virtual threads, found by reflection because the code runs on Java 17 as well.
 *
 * <p>Only from Java 24 on: before, a virtual thread that blocks inside {@code synchronized} keeps its carrier, of which
 * there are as many as processors, and a few such listeners would keep all others from running.
 */
final class VirtualThreads {
    private static final int FIRST_WITHOUT_PINNING = 24;

    private VirtualThreads() {}

    /** A virtual thread for each task, with this name and a number; empty where the JVM has none that suit. */
    static Optional<Executor> named(String prefix) {
        if (Runtime.version().feature() < FIRST_WITHOUT_PINNING) {
            return Optional.empty();
        }
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
            Object named = type.getMethod("name", String.class, long.class).invoke(builder, prefix, 1L);
            ThreadFactory factory = (ThreadFactory) type.getMethod("factory").invoke(named);
            Method make = Executors.class.getMethod("newThreadPerTaskExecutor", ThreadFactory.class);
            return Optional.of((Executor) make.invoke(null, factory));
        } catch (ReflectiveOperationException e) {
            return Optional.empty();
        }
    }
}
