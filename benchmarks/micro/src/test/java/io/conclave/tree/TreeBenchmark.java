package io.conclave.tree;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A write and a read of one of many znodes of one parent. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TreeBenchmark {
    private static final long SESSION = 5;
    private static final long TIME_MS = 1_000;

    @Param({"1000", "100000"})
    public int znodes;

    private final byte[] data = new byte[100];
    private TreeState state = TreeState.initial(new UUID(1, 2), 7);
    private long attachment;
    private int turn;

    @Setup
    public void fill() {
        state = apply(new Change.OpenSession(SESSION, SessionPassword.of(new byte[SessionPassword.BYTES]), 5_000));
        attachment = state.session(SESSION).orElseThrow().attachment();
        for (int i = 0; i < znodes; i++) {
            state = request(new TreeOperation.Create(path(i), data, ZnodeAcl.OPEN, ZnodeKind.PERSISTENT));
        }
    }

    private static String path(int number) {
        return "/z" + number;
    }

    private String nextPath() {
        turn = (turn + 7919) % znodes; // a prime, so that all have their turn in no order
        return path(turn);
    }

    private TreeState request(TreeOperation operation) {
        return apply(new Change.Request(SESSION, attachment, List.of(), operation));
    }

    private TreeState apply(Change change) {
        Applied applied = Tree.apply(state, change, TIME_MS);
        if (applied.result() instanceof Result.Failed failed) {
            throw new IllegalStateException(change + " was refused: " + failed);
        }
        return applied.state();
    }

    @Benchmark
    public TreeState set() {
        state = request(new TreeOperation.SetData(nextPath(), data, -1));
        return state;
    }

    @Benchmark
    public TreeReads.Data get() {
        return TreeReads.data(state, nextPath(), List.of());
    }
}
