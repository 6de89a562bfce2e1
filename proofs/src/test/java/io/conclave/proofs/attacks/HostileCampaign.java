package io.conclave.proofs.attacks;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * All attacks in random order, again and again for a given time, against servers with a heap of 256 MB. After each
 * series of twenty it prints what is alive on the heaps, and at the end a table of all attacks.
 */
public final class HostileCampaign {
    private static final int SERIES = 20;
    private static final int HISTOGRAM_LINES = 15;
    private static final int SECONDS_BEFORE = 3;

    /** The p99 of others that is asked for, in times that beside a burner; 0 to measure only. */
    private static final double TIMES = Double.parseDouble(System.getProperty("hostile.times", "0"));

    private final HostileClients clients;
    private final Ensemble ensemble;
    private final int secondsOfAnAttack;
    private final Map<Attack, List<HostileClients.Outcome>> outcomes = new EnumMap<>(Attack.class);
    private final List<String> heaps = new ArrayList<>();

    private HostileCampaign(HostileClients clients, Ensemble ensemble, int secondsOfAnAttack) {
        this.clients = clients;
        this.ensemble = ensemble;
        this.secondsOfAnAttack = secondsOfAnAttack;
    }

    /**
     * Arguments: zookeeper or conclave; minutes, or 0 for each attack once; seconds of an attack; connections of an
     * attacker per server; a seed; and the attacks, if not all.
     */
    public static void main(String[] arguments) throws Exception {
        EnsembleKind kind = argument(arguments, 0, "conclave").equals("zookeeper")
                ? EnsembleKind.APACHE_ZOOKEEPER
                : EnsembleKind.CONCLAVE;
        Duration time = Duration.ofMinutes(Integer.parseInt(argument(arguments, 1, "60")));
        int seconds = Integer.parseInt(argument(arguments, 2, "10"));
        int connections = Integer.parseInt(argument(arguments, 3, "4"));
        long seed = Long.parseLong(argument(arguments, 4, Long.toString(System.nanoTime())));
        List<Attack> attacks = arguments.length > 5
                ? Arrays.stream(arguments).skip(5).map(Attack::valueOf).toList()
                : Arrays.stream(Attack.values())
                        .filter(attack -> kind == EnsembleKind.CONCLAVE || !attack.needsTls())
                        .toList();
        System.out.println(kind + ", seed " + seed);
        try (Ensemble ensemble = HostileClients.start(kind, Files.createTempDirectory("hostile"));
                HostileClients clients = new HostileClients(ensemble, connections)) {
            HostileCampaign campaign = new HostileCampaign(clients, ensemble, seconds);
            campaign.run(time, attacks, new Random(seed));
            if (kind == EnsembleKind.CONCLAVE && !campaign.isUnharmed()) {
                throw new IllegalStateException("a server ended, or requests of others failed; the table says when");
            }
            List<Attack> slowed = campaign.attacksBeyond(TIMES);
            if (TIMES > 0 && !slowed.isEmpty()) {
                throw new IllegalStateException(
                        "the p99 of others was more than " + TIMES + " times that beside a burner in " + slowed);
            }
        }
    }

    private static String argument(String[] arguments, int index, String otherwise) {
        return index < arguments.length ? arguments[index] : otherwise;
    }

    private void run(Duration time, List<Attack> attacks, Random random) throws Exception {
        long sinceNanos = System.nanoTime();
        heaps.add(clients.liveHeaps());
        List<Attack> left = new ArrayList<>();
        for (int count = 1; count <= attacks.size() || System.nanoTime() - sinceNanos < time.toNanos(); count++) {
            if (left.isEmpty()) {
                left.addAll(attacks);
                Collections.shuffle(left, random);
            }
            HostileClients.Outcome attacked = clients.run(left.remove(0), SECONDS_BEFORE, secondsOfAnAttack);
            clients.tidy();
            HostileClients.Outcome outcome =
                    attacked.beside(clients.besideBurner(attacked.attackersCores(), secondsOfAnAttack));
            outcomes.computeIfAbsent(outcome.attack(), none -> new ArrayList<>())
                    .add(outcome);
            System.out.println(outcome.row() + " " + outcome.sent());
            outcome.refused().forEach(System.out::println);
            if (count % SERIES == 0) {
                heaps.add(clients.liveHeaps());
                System.out.println("live heap after " + count + " attacks: " + heaps.get(heaps.size() - 1));
            }
        }
        report(TimeUnit.NANOSECONDS.toMinutes(System.nanoTime() - sinceNanos));
    }

    /** Whether each server lived through all attacks, and each request of others was done. */
    private boolean isUnharmed() {
        return outcomes.values().stream()
                .flatMap(List::stream)
                .allMatch(outcome -> outcome.ended() == 0
                        && outcome.during().failures() == 0
                        && outcome.refused().isEmpty());
    }

    /** Of all runs of an attack. */
    private HostileClients.Outcome median(Attack attack) {
        List<HostileClients.Outcome> runs = outcomes.getOrDefault(attack, List.of());
        return new HostileClients.Outcome(
                attack,
                Bystanders.Latencies.medianOf(
                        runs.stream().map(HostileClients.Outcome::before).toList()),
                Bystanders.Latencies.medianOf(
                        runs.stream().map(HostileClients.Outcome::beside).toList()),
                Bystanders.Latencies.medianOf(
                        runs.stream().map(HostileClients.Outcome::during).toList()),
                average(runs, HostileClients.Outcome::attackersCores),
                average(runs, HostileClients.Outcome::serversCores),
                runs.stream().mapToInt(HostileClients.Outcome::ended).sum(),
                List.of(),
                "");
    }

    private static double average(List<HostileClients.Outcome> runs, ToDoubleFunction<HostileClients.Outcome> value) {
        return runs.stream().mapToDouble(value).average().orElse(0);
    }

    /** Those in whose median others had a p99 of more than so many times that beside a burner. */
    private List<Attack> attacksBeyond(double times) {
        return outcomes.keySet().stream()
                .filter(attack -> !median(attack).isWithin(times))
                .toList();
    }

    private void report(long minutes) {
        System.out.println("\n" + minutes + " minutes; medians of each attack's runs\n");
        System.out.println(HostileClients.Outcome.heading());
        outcomes.keySet().forEach(attack -> System.out.println(median(attack).row()));
        List<Attack> beyond = attacksBeyond(3);
        System.out.println("\nThe p99 of others was within three times that beside a burner in "
                + (outcomes.size() - beyond.size()) + " of " + outcomes.size() + " attacks; not in " + beyond);
        System.out.println("\nLive heap at the start, and after each series of " + SERIES + " attacks: " + heaps);
        ensemble.members().stream()
                .filter(Member::isAlive)
                .min(Comparator.comparing(Member::number))
                .ifPresent(HostileCampaign::printHistogram);
    }

    private static void printHistogram(Member member) {
        System.out.println("\nServer " + member.number() + ", alive at the end:");
        HostileClients.jcmd(member.pid(), "GC.class_histogram")
                .lines()
                .limit(HISTOGRAM_LINES)
                .forEach(System.out::println);
    }
}
