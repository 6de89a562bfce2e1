package io.conclave.simulation;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.AbstractEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** The event loops of one run of a server. Each runs its tasks in order, when the simulation lets it. */
final class SimulatedLoops extends AbstractEventExecutorGroup implements EventLoopGroup {
    private final List<SimulatedLoop> loops = new ArrayList<>();

    /** @param executor of each loop; keeps the order of its tasks */
    SimulatedLoops(List<Executor> executors) {
        for (Executor executor : executors) {
            loops.add(new SimulatedLoop(this, loops.size(), executor));
        }
    }

    EventLoop loop(int index) {
        return loops.get(index % loops.size());
    }

    @Override
    public EventLoop next() {
        return loops.get(0);
    }

    @Override
    public Iterator<EventExecutor> iterator() {
        return new ArrayList<EventExecutor>(loops).iterator();
    }

    @Override
    public ChannelFuture register(Channel channel) {
        return next().register(channel);
    }

    @Override
    public ChannelFuture register(ChannelPromise promise) {
        return next().register(promise);
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        return next().register(channel, promise);
    }

    @Override
    public boolean isShuttingDown() {
        return false;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<?> terminationFuture() {
        throw new UnsupportedOperationException();
    }

    @Override
    @Deprecated
    public void shutdown() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return false;
    }

    private static final class SimulatedLoop extends AbstractEventExecutor implements EventLoop {
        private final SimulatedLoops group;
        private final int number;
        private final Executor executor;

        SimulatedLoop(SimulatedLoops group, int number, Executor executor) {
            super(group);
            this.group = group;
            this.number = number;
            this.executor = executor;
        }

        /** Such that maps of loops have the same order in each run. */
        @Override
        public int hashCode() {
            return number;
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public EventLoopGroup parent() {
            return group;
        }

        @Override
        public EventLoop next() {
            return this;
        }

        @Override
        public boolean inEventLoop(Thread thread) {
            return true;
        }

        @Override
        public void execute(Runnable task) {
            executor.execute(task);
        }

        @Override
        public ChannelFuture register(Channel channel) {
            return register(new DefaultChannelPromise(channel, this));
        }

        @Override
        public ChannelFuture register(ChannelPromise promise) {
            promise.channel().unsafe().register(this, promise);
            return promise;
        }

        @Override
        @Deprecated
        public ChannelFuture register(Channel channel, ChannelPromise promise) {
            channel.unsafe().register(this, promise);
            return promise;
        }

        @Override
        public boolean isShuttingDown() {
            return false;
        }

        @Override
        public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Future<?> terminationFuture() {
            throw new UnsupportedOperationException();
        }

        @Override
        @Deprecated
        public void shutdown() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }
}
