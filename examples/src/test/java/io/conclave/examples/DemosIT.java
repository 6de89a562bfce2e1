package io.conclave.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Every demo runs as a new user would run it, and shows what the README says that it shows. Most of them wait. */
@Execution(ExecutionMode.CONCURRENT)
class DemosIT {
    private static final Pattern PROGRAM = Pattern.compile("^ +([a-z-]+)\\) main=(\\w+) ;;$", Pattern.MULTILINE);

    @Test
    void lockServiceShowsTheLineAndRefusesTheLateWriter() throws Exception {
        shows(
                LockService.class,
                "ben: in line: ann, ben\n",
                "cleo: had no luck within 200 ms\n",
                "cleo: in line: ann, ben, cleo\n",
                "ben: refused by the file",
                "ben: refused by the store",
                "Checked: the last writer in the store is cleo\n",
                "Checked: the guarded file has three writes, and none of the late one\n");
    }

    @Test
    void leaderDemoShowsASuccessionAndAHandOver() throws Exception {
        shows(
                LeaderDemo.class,
                "observer: no leader\n",
                "observer: ann leads",
                "observer: ben leads",
                "Checked: ben succeeded",
                "observer: dora leads",
                "ben: has handed over to dora\n",
                "observer: cleo leads",
                "Checked: each leader's token was larger than the one before\n");
    }

    @Test
    void revocableJobShowsConsentAndADeadline() throws Exception {
        shows(
                RevocableJob.class,
                "polite job: somebody asks for the lock\n",
                "polite job: gives the lock up between two steps\n",
                "Checked: the polite job gave up: RELEASED\n",
                "stubborn job: somebody asks for the lock\n",
                "stubborn job: stops: REVOKED\n",
                "Checked: the stubborn job's znode was deleted: DELETED\n");
    }

    @Test
    void semaphoreDemoShowsThatNeverMoreThanThePermitsAreInUse() throws Exception {
        shows(
                SemaphoreDemo.class,
                "Now there is one permit",
                "Now there are 3 again\n",
                "Checked: the killed process's permit came back",
                "and never more\n",
                "came one after the other\n");
    }

    @Test
    void doubleBarrierLetsProcessesBeginAndEndTogether() throws Exception {
        shows(
                DoubleBarrierDemo.class,
                "Checked: nobody began before all three were there\n",
                "Checked: nobody went home before all three had finished\n",
                "cleo: is killed with -9 inside\n",
                "Checked: the others went home",
                "Checked: the next round began with dora in cleo's place\n");
    }

    @Test
    void twoPhaseCommitIsAtomicWhoeverIsKilled() throws Exception {
        shows(
                TwoPhaseCommitDemo.class,
                "Checked: transfer-1 was committed at all three sites\n",
                "The coordinating process is killed with -9 before all have voted\n",
                "Checked: transfer-2 was aborted at all three sites\n",
                "rome is killed with -9 in doubt\n",
                "Checked: transfer-3 was committed at all three sites\n",
                "Checked: nothing is left in doubt\n",
                "Checked: what was decided of transfer-2 can still be asked for\n");
    }

    @Test
    void workQueueShowsThatAKilledWorkersJobComesBack() throws Exception {
        shows(
                WorkQueueDemo.class,
                "Checked: the urgent job overtook the others\n",
                "Checked: job 1 was done by another process",
                "Checked: every job was done, and acknowledged once\n",
                "Checked: after three attempts the faulty job is a dead letter\n",
                "Checked: nothing is left");
    }

    @Test
    void groupDemoShowsThatAKilledMemberDisappears() throws Exception {
        shows(
                GroupDemo.class,
                "list: Group /groups/zoo does not exist\n",
                "create: Created /groups/zoo\n",
                "list: No members in group /groups/zoo\n",
                "list: goat (process ",
                "Checked: goat disappeared",
                "delete: Deleted /groups/zoo\n",
                "Checked: the view saw every state\n");
    }

    @Test
    void configDemoShowsThatPublicationsAreSeenWhole() throws Exception {
        shows(
                ConfigDemo.class,
                "late: size 200, twice the size 400\n",
                "Checked: no watcher saw one key without the other\n");
    }

    @Test
    void resilientUpdaterGoesOnWithANewSession() throws Exception {
        shows(
                ResilientUpdaterDemo.class,
                "updater: session LOST\n",
                "updater: session CONNECTED\n",
                "Checked: it went on writing with a new session");
    }

    @Test
    void sequenceDemoGivesNoIdTwiceThoughTheStoreIsLost() throws Exception {
        shows(
                SequenceDemo.class,
                "first: found sequence orders\n",
                "second: found sequence invoices\n",
                "third: found sequence orders\n",
                "Checked: all of 800 ids were given once\n");
    }

    @Test
    void everyNameThatTheScriptKnowsIsAProgramAndIsInTheReadme() throws Exception {
        String script = Files.readString(Path.of("run"));
        String readme = Files.readString(Path.of("../README.md"));
        Matcher program = PROGRAM.matcher(script);
        int programs = 0;
        while (program.find()) {
            Class.forName("io.conclave.examples." + program.group(2)).getMethod("main", String[].class);
            assertTrue(readme.contains("examples/run " + program.group(1)), program.group(1));
            programs++;
        }
        assertEquals(13, programs);
    }

    private static void shows(Class<?> demo, String... words) throws InterruptedException {
        List<String> lines = new CopyOnWriteArrayList<>();
        int status = ChildProcess.start(lines::add, demo).await();
        String output = String.join("\n", lines) + "\n";
        assertEquals(0, status, output);
        for (String expected : words) {
            assertTrue(output.contains(expected), () -> "\"" + expected + "\" is not in\n" + output);
        }
    }
}
