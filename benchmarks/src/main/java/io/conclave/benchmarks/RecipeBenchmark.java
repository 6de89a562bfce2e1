package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Compares this project's recipes with Curator's: both as clients of one Apache ZooKeeper, durable and in a JVM of its
 * own, in alternating rounds after a warm-up of both.
 */
public final class RecipeBenchmark {
    private static final int CANDIDATES = 5;

    private final RecipeOptions options;
    private final TimeSource time;
    private final RecipeReport report;

    RecipeBenchmark(RecipeOptions options, TimeSource time, PrintStream out) {
        this.options = options;
        this.time = time;
        this.report = new RecipeReport(out);
    }

    /** Called by the JVM; exit status 2 for a wrong command line, 1 for a run that failed. */
    public static void main(String[] arguments) {
        if (List.of(arguments).contains("--help")) {
            System.out.println(RecipeOptions.HOW_TO);
            return;
        }
        RecipeOptions options;
        try {
            options = RecipeOptions.parse(List.of(arguments).stream()
                    .filter(argument -> !argument.isEmpty())
                    .toList());
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + RecipeOptions.HOW_TO);
            System.exit(2);
            return;
        }
        try {
            new RecipeBenchmark(options, TimeSource.system(), System.out).run();
            System.exit(0);
        } catch (BenchmarkException | IOException e) {
            System.err.println(e);
            System.exit(1);
        }
    }

    /** Runs everything and prints it. Blocks. */
    void run() throws IOException {
        Files.createDirectories(options.directory());
        try (BenchmarkServer server = BenchmarkServer.start(
                ServerKind.ZOOKEEPER, options.directory(), List.of("-Xms512m", "-Xmx512m"), time)) {
            for (LockCase lockCase : lockCases()) {
                locks(server, lockCase);
            }
            elections(server);
            doubleBarriers(server);
            for (QueueCase.Kind kind : QueueCase.Kind.values()) {
                queues(server, new QueueCase(kind, 1, 1, 1));
                queues(server, new QueueCase(kind, 10, 1, 20));
            }
            queues(server, new QueueCase(QueueCase.Kind.FIFO, 10, 8, 160));
            queues(server, new QueueCase(QueueCase.Kind.CLAIMED, 10, 8, 160));
        }
        report.summary();
    }

    private List<LockCase> lockCases() {
        List<LockCase> cases = new ArrayList<>();
        options.contenders().forEach(contenders -> cases.add(new LockCase(LockCase.Kind.LOCK, contenders, true)));
        cases.add(new LockCase(LockCase.Kind.LOCK, 1, false));
        for (LockCase.Kind kind : List.of(LockCase.Kind.MULTI_LOCK, LockCase.Kind.SEMAPHORE)) {
            IntStream.of(1, options.participants())
                    .distinct()
                    .forEach(contenders -> cases.add(new LockCase(kind, contenders, true)));
        }
        return cases;
    }

    private void elections(BenchmarkServer server) {
        String name = "election, leader's session closed";
        if (!options.wants(name)) {
            return;
        }
        Map<Library, ElectionLoad> loads = new EnumMap<>(Library.class);
        try {
            for (Library library : Library.values()) {
                ElectionLoad load =
                        new ElectionLoad(library, server.hostAndPort(), CANDIDATES, time, server::processorTime);
                loads.put(library, load);
                load.run(options.successions());
            }
            for (int round = 0; round < options.rounds(); round++) {
                loads.forEach((library, load) -> report.round(name, library, load.run(options.successions())));
            }
        } finally {
            loads.values().forEach(ElectionLoad::close);
        }
    }

    private void doubleBarriers(BenchmarkServer server) {
        Map<Library, DoubleBarrierTurns> turns = new EnumMap<>(Library.class);
        int participants = options.participants();
        String name = "double barrier of " + participants;
        if (!options.wants(name)) {
            return;
        }
        try {
            for (Library library : Library.values()) {
                IntFunction<DoubleBarrierLoad> open = number -> new DoubleBarrierLoad(
                        library, server.hostAndPort(), number, participants, time, server::processorTime);
                DoubleBarrierTurns own = new DoubleBarrierTurns(name, library, open, report);
                turns.put(library, own);
                own.run(options.warmUp());
            }
            for (int round = 0; round < options.rounds(); round++) {
                turns.forEach((library, own) ->
                        own.run(options.round()).ifPresent(measured -> report.round(name, library, measured)));
            }
        } finally {
            turns.values().forEach(DoubleBarrierTurns::close);
        }
    }

    private void queues(BenchmarkServer server, QueueCase queueCase) {
        if (!options.wants(queueCase.toString())) {
            return;
        }
        Map<Library, QueueLoad> loads = new EnumMap<>(Library.class);
        try {
            for (Library library : Library.values()) {
                QueueLoad load = new QueueLoad(library, server.hostAndPort(), queueCase, time, server::processorTime);
                loads.put(library, load);
                load.run(options.warmUp());
            }
            for (int round = 0; round < options.rounds(); round++) {
                loads.forEach(
                        (library, load) -> report.round(queueCase.toString(), library, load.run(options.round())));
            }
        } finally {
            loads.values().forEach(QueueLoad::close);
        }
    }

    private void locks(BenchmarkServer server, LockCase lockCase) {
        if (!options.wants(lockCase.toString())) {
            return;
        }
        Map<Library, LockLoad> loads = new EnumMap<>(Library.class);
        try {
            for (Library library : Library.values()) {
                LockLoad load = LockLoad.of(library, server.hostAndPort(), lockCase, time, server::processorTime);
                loads.put(library, load);
                load.run(options.warmUp());
            }
            for (int round = 0; round < options.rounds(); round++) {
                loads.forEach((library, load) -> report.round(lockCase.toString(), library, load.run(options.round())));
            }
        } finally {
            loads.values().forEach(LockLoad::close);
        }
    }
}
