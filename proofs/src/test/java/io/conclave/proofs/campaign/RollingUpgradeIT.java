package io.conclave.proofs.campaign;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import io.conclave.proofs.ensemble.Member;
import io.conclave.proofs.faults.ChildJvm;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers and clients of this version and of the one before it, together. */
class RollingUpgradeIT {
    /** A line that the earlier version does not have. */
    private static final String UNDERSTOOD = "conclave_feature_level_understood";

    @TempDir
    private static Path compiled;

    private static Path earlier;

    @TempDir
    private Path home;

    @BeforeAll
    static void compileTheEarlierVersion() throws Exception {
        earlier = EarlierVersion.classesIn(compiled);
    }

    /** Three servers, one after the other, the leader last; half-way back once; kills in between; then the level. */
    @Test
    void serversAreUpgradedOneAfterTheOtherUnderLoad() throws Exception {
        CampaignTotals totals = new CampaignTotals();
        try (Ensemble ensemble = Ensemble.of(EnsembleKind.CONCLAVE, home)
                        .ticks(1000, 10, 5)
                        .withSmallJvms()
                        .version(earlier)
                        .start();
                CampaignRound round = new CampaignRound(ensemble, 1, new Random())) {
            round.awaitProgress();
            Member leader = ensemble.awaitAllServing();
            assertEquals(Optional.empty(), level(leader, UNDERSTOOD), "which version it is");
            QuotaOfLoad.make(ensemble);
            long before = level(leader, "conclave_feature_level").orElseThrow();
            List<Member> followers = new ArrayList<>(ensemble.others(leader));
            Member first = followers.get(0);
            Member second = followers.get(1);

            restart(ensemble, round, first, null);
            killLeader(ensemble, round);
            restart(ensemble, round, second, null);
            killLeader(ensemble, round);
            restart(ensemble, round, second, earlier);
            killLeader(ensemble, round);
            restart(ensemble, round, second, null);
            restart(ensemble, round, leader, null);
            killLeader(ensemble, round);

            for (Member member : ensemble.members()) {
                assertEquals(Optional.of(before), level(member, "conclave_feature_level"), "not before it is raised");
                assertEquals("count=0,bytes=0", QuotaOfLoad.usage(member), "not before the level");
            }
            String answer = ensemble.awaitAllServing().command("raise-level");
            long understood = level(first, UNDERSTOOD).orElseThrow();
            assertTrue(answer.contains("Feature level " + understood + " is in force"), answer);
            killLeader(ensemble, round);
            if (understood > before) {
                refusesToGoBack(ensemble, round, second);
            }
            round.stopLoad();
            round.judge(totals);
            for (Member member : ensemble.members()) {
                QuotaOfLoad.awaitRightUsage(member);
            }
        }
        System.out.println("upgrade from " + EarlierVersion.COMMIT + ": " + totals);
        assertEquals(List.of(), totals.violations);
        assertEquals(0, totals.sessionsLost);
    }

    private void refusesToGoBack(Ensemble ensemble, CampaignRound round, Member member) throws InterruptedException {
        member.terminate();
        member.version(earlier);
        member.start();
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> !member.isAlive());
        assertTrue(member.log().contains("feature level"), member.log());
        member.version(null);
        member.start();
        ensemble.awaitAllServing();
        round.awaitProgress();
    }

    private static void restart(Ensemble ensemble, CampaignRound round, Member member, @Nullable Path version)
            throws InterruptedException {
        member.terminate();
        round.awaitProgress();
        member.version(version);
        member.start();
        ensemble.awaitAllServing();
        assertEquals(version == null, level(member, UNDERSTOOD).isPresent(), "which version it is");
        round.awaitProgress();
    }

    /** With the version that it has. */
    private static void killLeader(Ensemble ensemble, CampaignRound round) throws InterruptedException {
        Member leader = ensemble.awaitLeader();
        leader.kill();
        round.awaitProgress();
        leader.start();
        ensemble.awaitAllServing();
        round.awaitProgress();
    }

    private static Optional<Long> level(Member member, String key) {
        return member.ask("mntr").stream()
                .flatMap(String::lines)
                .filter(line -> line.matches("(zk_)?" + key + "\t.*")) // without the prefix in the earlier version
                .map(line -> Long.parseLong(line.substring(line.indexOf('\t') + 1)))
                .findFirst();
    }

    @Test
    void anEarlierClientUsesThisServerAndThisClientAnEarlierOne() throws Exception {
        try (Ensemble present = Ensemble.of(EnsembleKind.CONCLAVE, Files.createDirectory(home.resolve("present")))
                .withSmallJvms()
                .start()) {
            run(earlier + File.pathSeparator + ChildJvm.CLASS_PATH, present, "earlier-classes");
        }
        try (Ensemble past = Ensemble.of(EnsembleKind.CONCLAVE, Files.createDirectory(home.resolve("past")))
                .withSmallJvms()
                .version(earlier)
                .start()) {
            run(ChildJvm.CLASS_PATH, past, "");
        }
    }

    private void run(String classPath, Ensemble ensemble, String from) throws Exception {
        List<String> command = new ArrayList<>(ChildJvm.command(
                List.of("-XX:TieredStopAtLevel=1"),
                VersionClient.class.getName(),
                List.of(ensemble.connectString(), from)));
        command.replaceAll(part -> part.equals(ChildJvm.CLASS_PATH) ? classPath : part);
        Path output = home.resolve("client.log");
        Process client = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(client.waitFor(120, TimeUnit.SECONDS), () -> ChildJvm.textOf(output));
            assertEquals(0, client.exitValue(), () -> ChildJvm.textOf(output));
        } finally {
            client.destroyForcibly();
        }
    }
}
