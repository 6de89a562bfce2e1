package io.conclave.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * What a comparison of recipes does. Immutable; read from the command line.
 *
 * @param contenders the numbers of contenders for one lock; 1 is the uncontended case
 * @param participants how many go through a double barrier together, or want one multi-lock or permit
 * @param rounds how often each library has its turn
 * @param warmUp before each case
 * @param round how long each turn takes
 * @param directory where the server keeps its data
 * @param only a part of the names of the cases to measure; empty for all
 */
record RecipeOptions(
        List<Integer> contenders,
        int participants,
        int rounds,
        Duration warmUp,
        Duration round,
        Path directory,
        String only) {
    static final String HOW_TO = """
            options:
              --contenders=1,21,101  how many stand in line for one lock, the holder included
              --participants=20      how many go through a double barrier together, or want one multi-lock or permit
              --only=TEXT            only the cases whose name contains this, such as multi-lock
              --rounds=N --warmup-ms=N --round-ms=N
              --directory=PATH       where the server keeps its data; must be on a real disk;
                                     target/benchmark if not given
            """;

    static final RecipeOptions DEFAULT = new RecipeOptions(
            List.of(1, 21, 101),
            20,
            5,
            Duration.ofSeconds(3),
            Duration.ofSeconds(2),
            Path.of("target", "benchmark"),
            "");

    /**
     * Reads the arguments.
     *
     * @throws IllegalArgumentException if one is unknown or breaks a rule, naming it
     */
    static RecipeOptions parse(List<String> arguments) {
        RecipeOptions options = DEFAULT;
        for (String argument : arguments) {
            options = options.with(argument);
        }
        return options;
    }

    private RecipeOptions with(String argument) {
        int equals = argument.indexOf('=');
        String value = argument.substring(equals + 1);
        return switch (equals < 0 ? argument : argument.substring(0, equals)) {
            case "--contenders" ->
                new RecipeOptions(
                        Arrays.stream(value.split(",", -1))
                                .map(part -> number(argument, part))
                                .toList(),
                        participants,
                        rounds,
                        warmUp,
                        round,
                        directory,
                        only);
            case "--only" -> new RecipeOptions(contenders, participants, rounds, warmUp, round, directory, value);
            case "--participants" -> withParticipants(number(argument, value));
            case "--rounds" -> withTimes(number(argument, value), warmUp, round);
            case "--warmup-ms" -> withTimes(rounds, Duration.ofMillis(number(argument, value)), round);
            case "--round-ms" -> withTimes(rounds, warmUp, Duration.ofMillis(number(argument, value)));
            case "--directory" -> withDirectory(Path.of(value));
            default -> throw new IllegalArgumentException("Unknown option \"" + argument + "\"");
        };
    }

    /** How many leaders follow each other in a round: some fifty a second, with a new session for each. */
    int successions() {
        return (int) Math.max(2, round.toMillis() / 20);
    }

    boolean wants(String name) {
        return name.contains(only);
    }

    RecipeOptions withTimes(int newRounds, Duration newWarmUp, Duration newRound) {
        return new RecipeOptions(contenders, participants, newRounds, newWarmUp, newRound, directory, only);
    }

    RecipeOptions withContenders(List<Integer> newContenders) {
        return new RecipeOptions(newContenders, participants, rounds, warmUp, round, directory, only);
    }

    RecipeOptions withParticipants(int number) {
        return new RecipeOptions(contenders, number, rounds, warmUp, round, directory, only);
    }

    RecipeOptions withDirectory(Path newDirectory) {
        return new RecipeOptions(contenders, participants, rounds, warmUp, round, newDirectory, only);
    }

    private static int number(String argument, String value) {
        if (value.matches("[1-9][0-9]{0,6}")) {
            return Integer.parseInt(value);
        }
        throw new IllegalArgumentException("Invalid option \"" + argument + "\": it needs a positive whole number");
    }
}
