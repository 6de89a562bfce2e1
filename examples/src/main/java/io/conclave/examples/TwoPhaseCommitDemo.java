package io.conclave.examples;

import io.conclave.commit.TwoPhaseCommit;
import io.conclave.coordinator.Coordinator;
import io.conclave.time.TimeSource;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Transfers among three sites, each a process with books of its own. The first is committed; the process that
 * coordinates the second is killed before all have voted; in the third a site is killed in doubt and comes back.
 */
public final class TwoPhaseCommitDemo {
    static final String TRANSFERS = "/transfers";
    /** Of those whose death is not what is waited for: a busy machine must not pass for it. */
    static final Duration LONG_SESSION = Duration.ofSeconds(10);

    static final List<String> SITES = List.of("berlin", "paris", "rome");

    private final DemoStage stage;
    private final Map<String, DemoProcess> sites = new TreeMap<>();

    private TwoPhaseCommitDemo(DemoStage stage) {
        this.stage = stage;
    }

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            new TwoPhaseCommitDemo(stage).play(TwoPhaseCommit.at(coordinator, TRANSFERS));
        }
    }

    private void play(TwoPhaseCommit transfers) throws Exception {
        SITES.forEach(this::start);
        DemoProcess first = bank("transfer-1", LONG_SESSION);
        prepareAll("transfer-1");
        first.awaits("COMMIT");
        tellAll("finish transfer-1");
        checkOutcome("transfer-1", "committed");

        DemoProcess second = bank("transfer-2", DemoStage.SESSION_TIMEOUT);
        for (DemoProcess site : sites.values()) {
            site.awaits("asked to prepare transfer-2");
        }
        site("berlin").tell("vote transfer-2");
        site("paris").tell("vote transfer-2");
        System.out.println("The coordinating process is killed with -9 before all have voted");
        second.kill();
        site("berlin").awaits("is told: abort transfer-2");
        site("rome").tell("vote transfer-2");
        tellAll("finish transfer-2");
        checkOutcome("transfer-2", "aborted");

        DemoProcess third = bank("transfer-3", LONG_SESSION);
        prepareAll("transfer-3");
        third.awaits("COMMIT");
        site("rome").awaits("is told: commit transfer-3");
        System.out.println("rome is killed with -9 in doubt");
        site("rome").kill();
        start("rome");
        site("rome").awaits("is told: commit transfer-3");
        tellAll("finish transfer-3");
        checkOutcome("transfer-3", "committed");
        awaitNothingInDoubt(transfers);
    }

    private void start(String site) {
        sites.put(
                site,
                stage.start(site, TwoPhaseCommitDemoSite.class, stage.file(site).toString()));
    }

    private DemoProcess bank(String id, Duration session) {
        return stage.start("bank", TwoPhaseCommitDemoBank.class, id, session.toString());
    }

    private DemoProcess site(String name) {
        return Objects.requireNonNull(sites.get(name), name);
    }

    private void prepareAll(String id) throws InterruptedException {
        for (DemoProcess site : sites.values()) {
            site.awaits("asked to prepare " + id);
            site.tell("vote " + id);
        }
    }

    private void tellAll(String order) {
        sites.values().forEach(site -> site.tell(order));
    }

    private void checkOutcome(String id, String outcome) throws Exception {
        boolean same = true;
        for (String site : SITES) {
            site(site).awaits(outcome + " " + id);
            same &= Files.readAllLines(stage.file(site)).contains(outcome + " " + id);
        }
        DemoStage.check(same, id + " was " + outcome + " at all three sites");
    }

    /** What the killed process has begun is left to the process that takes up its work. */
    private static void awaitNothingInDoubt(TwoPhaseCommit transfers) throws Exception {
        TimeSource time = TimeSource.system();
        long endMs = time.wallMillis() + Duration.ofSeconds(30).toMillis();
        while (!transfers.recover().isEmpty()) {
            if (time.wallMillis() > endMs) {
                throw new IllegalStateException("Something stays in doubt: " + transfers.recover());
            }
            Work.lasts(Duration.ofMillis(100));
        }
        DemoStage.check(true, "nothing is left in doubt");
        DemoStage.check(
                !transfers.decision("transfer-2").orElseThrow().isCommit(),
                "what was decided of transfer-2 can still be asked for");
    }
}
