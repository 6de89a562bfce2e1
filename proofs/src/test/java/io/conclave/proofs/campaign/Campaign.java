package io.conclave.proofs.campaign;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.Member;
import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Mixed load and one fault after the other, for a time; the random choices come from a seed (the moments at which
 * processes react do not).
 */
final class Campaign {
    private static final Duration LONGEST_ROUND = Duration.ofSeconds(60);
    private static final int LONGEST_FAULT_MS = 6000;
    private static final int LONGEST_PAUSE_MS = 2500;
    /** One in so many faults is that of a client. */
    private static final int CLIENT_FAULT = 7;

    private final Ensemble ensemble;
    private final Random random;
    private final CampaignTotals totals = new CampaignTotals();
    private final CountDownLatch never = new CountDownLatch(1);
    private final long startNanos = System.nanoTime();

    Campaign(Ensemble ensemble, long seed) {
        this.ensemble = ensemble;
        this.random = new Random(seed);
    }

    /** Runs for this long, and a little more; stops after the first round with violations. */
    CampaignTotals run(Duration duration) throws InterruptedException {
        while (totals.violations.isEmpty() && elapsed().compareTo(duration) < 0) {
            try (CampaignRound round = new CampaignRound(ensemble, totals.rounds + 1, random)) {
                Duration end = elapsed().plus(LONGEST_ROUND);
                Duration until = end.compareTo(duration) < 0 ? end : duration;
                round.awaitProgress();
                while (elapsed().compareTo(until) < 0) {
                    disturb(round);
                }
                round.stopLoad();
                round.judge(totals);
            }
            say("round " + totals.rounds + " is over: " + totals);
        }
        return totals;
    }

    private void disturb(CampaignRound round) throws InterruptedException {
        pass(random.nextInt(LONGEST_PAUSE_MS));
        int holdMs = 200 + random.nextInt(LONGEST_FAULT_MS);
        if (random.nextInt(CLIENT_FAULT) == 0) {
            GrantClient client =
                    round.grantClients().get(random.nextInt(round.grantClients().size()));
            say("a client is cut off for " + holdMs + " ms");
            client.cutOff();
            pass(holdMs);
            client.reconnect();
            totals.clientCuts++;
        } else {
            Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
            Member leader = ensemble.awaitLeader();
            String whom = fault.strike(ensemble, leader, random);
            say(fault + " " + whom + " for " + holdMs + " ms");
            pass(holdMs);
            ensemble.heal();
            totals.faults.merge(fault, 1, Integer::sum);
        }
        round.awaitProgress();
    }

    private void pass(int ms) throws InterruptedException {
        never.await(ms, TimeUnit.MILLISECONDS);
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    private void say(String what) {
        System.out.println(String.format(Locale.ROOT, "%8.1f s  %s", elapsed().toMillis() / 1e3, what));
    }
}
