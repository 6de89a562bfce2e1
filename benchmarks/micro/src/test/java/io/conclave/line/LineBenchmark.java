package io.conclave.line;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
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

/** What the last contender of a mutex's line does with the list: names to places in order, and its predecessor. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class LineBenchmark {
    private final LineRole mutex = LineRole.mutex("lock");

    @Param({"10", "1000"})
    public int contenders;

    private List<String> names = List.of();

    @Setup
    public void fill() {
        Random random = new Random(1);
        names = new ArrayList<>();
        for (int i = 0; i < contenders; i++) {
            String guid = new UUID(random.nextLong(), random.nextLong()).toString();
            names.add(String.format("%s%010d", EntryKind.MUTEX.nameOf(guid), i));
        }
        Collections.shuffle(names, random); // a server lists children in no order
    }

    @Benchmark
    public Optional<LineEntry> predecessor() {
        List<LineEntry> line = LineEntry.inOrder(mutex.line(), names);
        int last = line.size() - 1;
        return mutex.predecessor(line.subList(0, last), line.get(last));
    }
}
