package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.conclave.consensus.ReplicatedLog;
import io.conclave.replica.Step;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.tree.Applied;
import io.conclave.tree.Change;
import io.conclave.tree.Result;
import io.conclave.tree.Tree;
import io.conclave.tree.TreeEvent;
import io.conclave.tree.TreeState;
import io.netty.channel.DefaultEventLoop;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.AbstractList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopTest {
    private final DefaultEventLoop eventLoop = new DefaultEventLoop();
    private final Feed feed = new Feed(1);
    private final ManualTimeSource time = new ManualTimeSource();
    private final Loop loop = new Loop(eventLoop, noLog(), time, feed);

    private static ReplicatedLog noLog() {
        return (ReplicatedLog) Proxy.newProxyInstance(
                LoopTest.class.getClassLoader(), new Class<?>[] {ReplicatedLog.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    private static List<TreeEvent> unreadable() {
        return new AbstractList<>() {
            @Override
            public TreeEvent get(int index) {
                throw new IllegalStateException("planted");
            }

            @Override
            public int size() {
                return 1;
            }
        };
    }

    @Test
    void aStepWithUnreadableEventsDoesNotHoldUpTheNextOnes() {
        Change change = new Change.RaiseFeatureLevel(1);
        TreeState before = TreeState.initial(new UUID(1, 2), 0);
        Applied first = Tree.apply(before, change, 1);
        Applied second = Tree.apply(first.state(), change, 2);
        Applied failing = new Applied(first.state(), first.zxid(), new Result.Deleted(), unreadable());
        int[] tasks = {0};
        feed.batch(List.of(new Step(change, failing, null), new Step(change, second, null)));
        feed.task(loop, () -> tasks[0]++);
        loop.catchUp();
        assertSame(second.state(), loop.state());
        assertEquals(1, tasks[0]);
    }

    /** All that is done before others have their turn is one turn, also where something in it calls the loop again. */
    @Test
    void theLongestTurnIsKeptUntilItIsReset() throws Exception {
        eventLoop
                .submit(() -> {
                    loop.post(() -> turn(7));
                    loop.post(() -> turn(5));
                })
                .get();
        eventLoop.submit(() -> loop.post(() -> turn(3))).get();
        ConnectionTotals.Turns turns =
                eventLoop.submit(() -> loop.turns().totals()).get();
        assertEquals(new ConnectionTotals.Turns(2, 15, 12), turns);
        assertEquals(7.5, turns.averageMs());
        ConnectionTotals.Turns none = eventLoop
                .submit(() -> {
                    loop.turns().reset();
                    return loop.turns().totals();
                })
                .get();
        assertEquals(new ConnectionTotals.Turns(0, 0, 0), none);
        assertEquals(0, none.averageMs());
        assertEquals(new ConnectionTotals.Turns(2, 15, 12), none.plus(turns));
    }

    private void turn(int ms) {
        loop.turns().begin();
        time.advance(Duration.ofMillis(ms));
        loop.turns().end();
    }

    @AfterEach
    void end() {
        eventLoop.shutdownGracefully();
    }
}
