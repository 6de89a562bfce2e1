package io.conclave.proofs.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a campaign did, over all its rounds. */
final class CampaignTotals {
    final Map<Fault, Integer> faults = new TreeMap<>();
    final List<String> violations = new ArrayList<>();
    int rounds;
    int clientCuts;
    long answeredWrites;
    long unknown;
    long reads;
    long watchesFired;
    long grants;
    long refusedByToken;
    long overlapsByClock;
    long sessionsLost;

    int faultCount() {
        return faults.values().stream().mapToInt(Integer::intValue).sum() + clientCuts;
    }

    @Override
    public String toString() {
        return rounds + " rounds, " + faultCount() + " faults " + faults + " and " + clientCuts + " clients cut off; "
                + answeredWrites + " acknowledged writes, " + unknown + " requests of unknown outcome, " + reads
                + " reads, " + watchesFired + " watches fired, " + grants + " grants (" + overlapsByClock
                + " double by the clock, all caught by tokens; " + refusedByToken + " writes refused by token), "
                + sessionsLost + " sessions lost; " + violations.size() + " violations";
    }
}
