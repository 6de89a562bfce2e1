package io.conclave.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** What a run does. Immutable; read from the command line. */
record BenchmarkOptions(
        List<Shape> shapes,
        List<Workload> workloads,
        int rounds,
        Duration warmUp,
        Duration round,
        Path directory,
        int callbackThreads,
        List<String> serverJvmOptions,
        int servers,
        List<ServerKind> kinds) {
    /**
     * Callbacks run as a coordinator runs them if nothing else is asked for: on threads that come and go with the work.
     */
    static final int AS_A_COORDINATOR = -1;

    static final String HOW_TO = """
            options:
              --short               2 rounds of 1 s after 1 s of warm-up; about a minute (the default)
              --long                5 rounds of 5 s after 5 s of warm-up; about ten minutes
              --shapes=1x1,...      sessions x requests that each keeps under way; 1x1,50x1,50x100 if not given
              --workloads=set,...   of set, get, set+1%create; all of them if not given
              --rounds=N --warmup-ms=N --round-ms=N
              --servers=N           ensembles of N servers each, asked over connections to the leader and to a
                                    follower; 1, stand-alone, if not given
              --kinds=zookeeper,... whose servers, two of conclave, conclave-tls and zookeeper, or one;
                                    conclave,zookeeper if not given
              --directory=PATH      where the servers keep their data; must be on a real disk;
                                    target/benchmark if not given
              --callback-threads=N  runs answers on N threads, 0: on the connections' own;
                                    as a Coordinator does if not given
              --server-jvm="..."    options of the servers' JVMs; "-Xms512m -Xmx512m" if not given
            """;

    /** A minute. */
    static final BenchmarkOptions SHORT = new BenchmarkOptions(
            List.of(new Shape(1, 1), new Shape(50, 1), new Shape(50, 100)),
            List.of(Workload.values()),
            2,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Path.of("target", "benchmark"),
            AS_A_COORDINATOR,
            List.of("-Xms512m", "-Xmx512m"),
            1,
            List.of(ServerKind.CONCLAVE, ServerKind.ZOOKEEPER));

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException if one is unknown or breaks a rule, naming it
     */
    static BenchmarkOptions parse(List<String> arguments) {
        BenchmarkOptions options = SHORT;
        for (String argument : arguments) {
            options = options.with(argument);
        }
        return options;
    }

    private BenchmarkOptions with(String argument) {
        int equals = argument.indexOf('=');
        String value = argument.substring(equals + 1);
        return switch (equals < 0 ? argument : argument.substring(0, equals)) {
            case "--short" -> withTimes(2, Duration.ofSeconds(1), Duration.ofSeconds(1));
            case "--long" -> withTimes(5, Duration.ofSeconds(5), Duration.ofSeconds(5));
            case "--callback-threads" -> withCallbackThreads("0".equals(value) ? 0 : number(argument, value));
            case "--shapes" ->
                new BenchmarkOptions(
                        list(value, Shape::parse),
                        workloads,
                        rounds,
                        warmUp,
                        round,
                        directory,
                        callbackThreads,
                        serverJvmOptions,
                        servers,
                        kinds);
            case "--workloads" ->
                new BenchmarkOptions(
                        shapes,
                        list(value, Workload::parse),
                        rounds,
                        warmUp,
                        round,
                        directory,
                        callbackThreads,
                        serverJvmOptions,
                        servers,
                        kinds);
            case "--rounds" -> withTimes(number(argument, value), warmUp, round);
            case "--warmup-ms" -> withTimes(rounds, Duration.ofMillis(number(argument, value)), round);
            case "--round-ms" -> withTimes(rounds, warmUp, Duration.ofMillis(number(argument, value)));
            case "--directory" -> withDirectory(Path.of(value));
            case "--server-jvm" ->
                new BenchmarkOptions(
                        shapes,
                        workloads,
                        rounds,
                        warmUp,
                        round,
                        directory,
                        callbackThreads,
                        list(value, " ", option -> option),
                        servers,
                        kinds);
            case "--kinds" ->
                new BenchmarkOptions(
                        shapes,
                        workloads,
                        rounds,
                        warmUp,
                        round,
                        directory,
                        callbackThreads,
                        serverJvmOptions,
                        servers,
                        list(value, ServerKind::parse));
            case "--servers" -> withServers(number(argument, value));
            default -> throw new IllegalArgumentException("Unknown option \"" + argument + "\"");
        };
    }

    BenchmarkOptions withTimes(int newRounds, Duration newWarmUp, Duration newRound) {
        return new BenchmarkOptions(
                shapes,
                workloads,
                newRounds,
                newWarmUp,
                newRound,
                directory,
                callbackThreads,
                serverJvmOptions,
                servers,
                kinds);
    }

    private BenchmarkOptions withCallbackThreads(int threads) {
        return new BenchmarkOptions(
                shapes, workloads, rounds, warmUp, round, directory, threads, serverJvmOptions, servers, kinds);
    }

    BenchmarkOptions withServers(int count) {
        return new BenchmarkOptions(
                shapes, workloads, rounds, warmUp, round, directory, callbackThreads, serverJvmOptions, count, kinds);
    }

    BenchmarkOptions withDirectory(Path newDirectory) {
        return new BenchmarkOptions(
                shapes,
                workloads,
                rounds,
                warmUp,
                round,
                newDirectory,
                callbackThreads,
                serverJvmOptions,
                servers,
                kinds);
    }

    /** Where sessions are connected, one place after the other. */
    List<Place> places() {
        return servers == 1 ? List.of(Place.STANDALONE) : List.of(Place.LEADER, Place.FOLLOWER);
    }

    /** The most sessions that a shape uses. */
    int sessionCount() {
        return shapes.stream().mapToInt(Shape::sessions).max().orElse(1);
    }

    private static int number(String argument, String value) {
        if (value.matches("[1-9][0-9]{0,6}")) {
            return Integer.parseInt(value);
        }
        throw new IllegalArgumentException("Invalid option \"" + argument + "\": it needs a positive whole number");
    }

    private static <T> List<T> list(String value, Function<String, T> parse) {
        return list(value, ",", parse);
    }

    private static <T> List<T> list(String value, String separator, Function<String, T> parse) {
        return Arrays.stream(value.trim().split(separator, -1)).map(parse).toList();
    }
}
