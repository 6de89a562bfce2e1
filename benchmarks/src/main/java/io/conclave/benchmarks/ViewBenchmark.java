package io.conclave.benchmarks;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/**
 * Compares this project's live views with Curator's, both on one Apache ZooKeeper: a group in which every member sees
 * the others, with members that come and go; and a cache of a znode with many children.
 */
public final class ViewBenchmark {
    private static final String HOW_TO = """
            options:
              --members=200 --changes=20  how large the group is, and how often a member leaves and
                                          comes back in a round
              --nodes=10000               how many children are cached
              --rounds=3
              --directory=PATH            where the server keeps its data; target/benchmark if not given
            """;
    private static final String CACHED = "/benchmark/cached";
    private static final int PATIENCE_SECONDS = 120;

    private final Options options;
    private final TimeSource time;
    private final PrintStream out;
    private final Map<String, Map<Library, List<Double>>> figures = new LinkedHashMap<>();

    /** What a comparison does. */
    record Options(int members, int changes, int nodes, int rounds, Path directory) {
        static final Options DEFAULT = new Options(200, 20, 10_000, 3, Path.of("target", "benchmark"));

        static Options parse(List<String> arguments) {
            Options options = DEFAULT;
            for (String argument : arguments) {
                options = options.with(argument);
            }
            return options;
        }

        private Options with(String argument) {
            int equals = argument.indexOf('=');
            String value = argument.substring(equals + 1);
            return switch (equals < 0 ? argument : argument.substring(0, equals)) {
                case "--members" -> new Options(number(argument, value), changes, nodes, rounds, directory);
                case "--changes" -> new Options(members, number(argument, value), nodes, rounds, directory);
                case "--nodes" -> new Options(members, changes, number(argument, value), rounds, directory);
                case "--rounds" -> new Options(members, changes, nodes, number(argument, value), directory);
                case "--directory" -> new Options(members, changes, nodes, rounds, Path.of(value));
                default -> throw new IllegalArgumentException("Unknown option \"" + argument + "\"");
            };
        }

        private static int number(String argument, String value) {
            if (value.matches("[1-9][0-9]{0,6}")) {
                return Integer.parseInt(value);
            }
            throw new IllegalArgumentException("Invalid option \"" + argument + "\": it needs a positive whole number");
        }
    }

    ViewBenchmark(Options options, TimeSource time, PrintStream out) {
        this.options = options;
        this.time = time;
        this.out = out;
    }

    /** Called by the JVM; exit status 2 for a wrong command line, 1 for a run that failed. */
    public static void main(String[] arguments) throws InterruptedException {
        if (List.of(arguments).contains("--help")) {
            System.out.println(HOW_TO);
            return;
        }
        Options options;
        try {
            options = Options.parse(
                    List.of(arguments).stream().filter(one -> !one.isEmpty()).toList());
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n" + HOW_TO);
            System.exit(2);
            return;
        }
        try {
            new ViewBenchmark(options, TimeSource.system(), System.out).run();
            System.exit(0);
        } catch (BenchmarkException | IOException e) {
            System.err.println(e);
            System.exit(1);
        }
    }

    private static ViewClient connect(Library library, String hostAndPort) {
        return switch (library) {
            case CONCLAVE -> new ConclaveViews(hostAndPort);
            case CURATOR -> new CuratorViews(hostAndPort);
        };
    }

    /** Runs everything and prints it. Blocks. */
    void run() throws IOException, InterruptedException {
        Files.createDirectories(options.directory());
        List<String> jvm = List.of("-Xms512m", "-Xmx512m");
        try (BenchmarkServer server = BenchmarkServer.start(ServerKind.ZOOKEEPER, options.directory(), jvm, time)) {
            String hostAndPort = server.hostAndPort();
            makeNodes(hostAndPort);
            for (int round = 0; round <= options.rounds(); round++) { // the first is a warm-up
                for (Library library : Library.values()) {
                    group(library, hostAndPort, round);
                    cache(library, hostAndPort, round);
                }
            }
        }
        summary();
    }

    private void group(Library library, String hostAndPort, int round) throws InterruptedException {
        String path = "/benchmark/group-" + library.label() + "-" + round;
        List<ViewClient> clients = new ArrayList<>();
        List<ViewClient.Joined> members = new ArrayList<>();
        try {
            for (int i = 0; i < options.members(); i++) {
                ViewClient client = connect(library, hostAndPort);
                clients.add(client);
                members.add(client.join(path, "member-" + i));
            }
            awaitSeen(members, options.members());
            long messagesBefore = ServerTraffic.messages(hostAndPort);
            long startNanos = time.monotonicNanos();
            for (int change = 0; change < options.changes(); change++) {
                int one = change % options.members();
                ViewClient.Joined leaving = members.remove(one);
                leaving.leave();
                awaitSeen(members, options.members() - 1);
                members.add(one, clients.get(one).join(path, "member-" + one));
                awaitSeen(members, options.members());
            }
            int changes = 2 * options.changes();
            double ms = (time.monotonicNanos() - startNanos) / 1e6;
            double messages = ServerTraffic.messages(hostAndPort) - messagesBefore;
            figure(round, "group of " + options.members() + ", ms until all have seen a change", library, ms / changes);
            figure(round, "group of " + options.members() + ", messages per change", library, messages / changes);
        } finally {
            clients.forEach(ViewClient::close);
        }
    }

    private static void awaitSeen(List<ViewClient.Joined> members, int count) throws InterruptedException {
        for (ViewClient.Joined member : members) {
            for (int looks = 0; member.seen() != count; looks++) {
                if (looks > PATIENCE_SECONDS * 1000) {
                    throw new BenchmarkException("a member sees " + member.seen() + " of " + count);
                }
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    private void cache(Library library, String hostAndPort, int round) throws InterruptedException {
        CountDownLatch loaded = new CountDownLatch(1);
        AtomicInteger changed = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(1);
        try (ViewClient client = connect(library, hostAndPort)) {
            long startNanos = time.monotonicNanos();
            client.cache(CACHED, loaded::countDown, count -> {
                if (changed.addAndGet(count) >= options.nodes()) {
                    all.countDown();
                }
            });
            await(loaded, "loaded");
            double loadMs = (time.monotonicNanos() - startNanos) / 1e6;
            long setNanos = time.monotonicNanos();
            writeAll(hostAndPort, i -> SetData.of(node(i), new byte[100]));
            await(all, "told of all changes");
            double perSecond = options.nodes() / ((time.monotonicNanos() - setNanos) / 1e9);
            figure(round, "cache of " + options.nodes() + ", ms to load", library, loadMs);
            figure(round, "cache of " + options.nodes() + ", changes seen per second", library, perSecond);
        }
    }

    private static void await(CountDownLatch latch, String what) throws InterruptedException {
        if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new BenchmarkException("not " + what + " after " + PATIENCE_SECONDS + " s");
        }
    }

    private static NodePath node(int number) {
        return NodePath.of(CACHED + "/node-" + number);
    }

    private void makeNodes(String hostAndPort) throws InterruptedException {
        try (Coordinator coordinator = Coordinator.connect("zookeeper://" + hostAndPort)) {
            coordinator.execute(Create.of(NodePath.of("/benchmark")));
            coordinator.execute(Create.of(NodePath.of(CACHED)));
        }
        writeAll(hostAndPort, i -> Create.of(node(i)).withData(new byte[100]));
    }

    private void writeAll(String hostAndPort, IntFunction<Request<?>> request) throws InterruptedException {
        try (Coordinator coordinator = Coordinator.connect("zookeeper://" + hostAndPort)) {
            List<CompletableFuture<?>> written = new ArrayList<>();
            for (int i = 0; i < options.nodes(); i++) {
                written.add(coordinator.submit(request.apply(i)).toCompletableFuture());
            }
            CompletableFuture.allOf(written.toArray(CompletableFuture<?>[]::new))
                    .get();
        } catch (ExecutionException e) {
            throw new BenchmarkException("cannot write the znodes", e);
        }
    }

    private void figure(int round, String what, Library library, double value) {
        print("%-8s %-52s %-10s %,12.2f", round == 0 ? "warm-up" : "round " + round, what, library.label(), value);
        if (round > 0) {
            figures.computeIfAbsent(what, key -> new EnumMap<>(Library.class))
                    .computeIfAbsent(library, key -> new ArrayList<>())
                    .add(value);
        }
    }

    private void summary() {
        print("");
        print("| what | Conclave | Curator | Conclave / Curator |");
        print("|---|---:|---:|---:|");
        figures.forEach((what, byLibrary) -> {
            double ours = median(byLibrary.getOrDefault(Library.CONCLAVE, List.of()));
            double theirs = median(byLibrary.getOrDefault(Library.CURATOR, List.of()));
            print("| %s | %,.2f | %,.2f | %.2f |", what, ours, theirs, ours / theirs);
        });
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
    }

    private void print(String format, Object... arguments) {
        out.println(String.format(Locale.ROOT, format, arguments));
    }
}
