package io.conclave.membership;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Each fault at each request of a kept znode's runs: it comes back whatever happens, and is gone once it is closed. */
@Timeout(value = 300, unit = TimeUnit.SECONDS)
@Tag("sampled")
class KeptNodeFaultsTest {
    private static final NodePath NODE = NodePath.of("/kept/node");
    private static final Duration UNTIL_THE_NEXT_SESSION = Duration.ofSeconds(40);

    private static KeptNode keep(Actor me, boolean isEphemeral) {
        byte[] data = "one".getBytes(UTF_8);
        return isEphemeral
                ? KeptNode.ephemeral(me.coordinator(), NODE, data)
                : KeptNode.persistent(me.coordinator(), NODE, data);
    }

    /** What other processes do while the victim is away. */
    private static void rivals(FaultRun run) {
        run.rival("deletes it", KeptNodeFaultsTest::delete);
        run.rival("has the name for a while", me -> {
            try {
                me.coordinator().execute(Create.of(NODE).withMode(CreateMode.EPHEMERAL));
                run.pause(Duration.ofSeconds(1));
                delete(me);
            } catch (RefusedException taken) {
                // it is there, or its parent is not yet
            }
        });
    }

    private static void delete(Actor me) throws InterruptedException {
        try {
            me.coordinator().execute(Delete.of(NODE));
        } catch (RefusedException gone) {
            // that is as good
        }
    }

    private static String data(Coordinator coordinator) throws InterruptedException {
        try {
            return coordinator.execute(GetData.of(NODE)).bytes().text();
        } catch (RefusedException noNode) {
            return "not there";
        }
    }

    static FaultDriver staying(boolean isEphemeral) {
        AtomicReference<@Nullable KeptNode> kept = new AtomicReference<>();
        return FaultDriver.of("kept znode, " + (isEphemeral ? "ephemeral" : "persistent"), run -> {
                    rivals(run);
                    kept.set(null);
                    run.victim().start(me -> {
                        KeptNode node = keep(me, isEphemeral);
                        kept.set(node);
                        node.updateAsync("two".getBytes(UTF_8));
                        node.awaitCreated(Duration.ofMinutes(1));
                        run.pause(Duration.ofMillis(500)); // a moment for faults that strike when everybody waits
                    });
                })
                .keepingZnodesUntilTheEnd()
                .within(Duration.ofMinutes(2))
                .requestsAtMost(5, 20) // it comes back, and again
                .afterwards(run -> {
                    run.pause(UNTIL_THE_NEXT_SESSION);
                    run.untilAtRest();
                    KeptNode node = kept.get();
                    String data = data(run.helper("looking").coordinator());
                    if (node != null && !(data.equals("two") && node.state() == KeptNodeState.PRESENT)) {
                        run.violated(node + " is not there as it should be: " + data);
                    }
                });
    }

    @Test
    void ephemeralOneIsThereInTheEndWithItsLastData() {
        staying(true).verify();
    }

    @Test
    void persistentOneIsThereInTheEndWithItsLastData() {
        staying(false).verify();
    }

    /** Closed again; the next one waits for the name. */
    static FaultDriver closing(boolean isEphemeral) {
        return FaultDriver.of("kept znode, " + (isEphemeral ? "ephemeral" : "persistent") + ", closed", run -> {
                    rivals(run);
                    run.victim().start(me -> {
                        KeptNode node = keep(me, isEphemeral);
                        try {
                            node.awaitCreated(Duration.ofMinutes(1));
                            node.update("two".getBytes(UTF_8));
                        } finally {
                            node.close();
                        }
                    });
                    run.victim().join();
                })
                .within(Duration.ofMinutes(2))
                .afterwards(run -> {
                    run.pause(UNTIL_THE_NEXT_SESSION);
                    run.untilAtRest();
                    NodeStat stat = run.store().snapshot().get(NODE);
                    if (stat != null) {
                        run.violated("it was closed, and is there still: " + stat);
                    }
                });
    }

    @Test
    void ephemeralOneIsGoneOnceItIsClosed() {
        closing(true).verify();
    }

    @Test
    void persistentOneIsGoneOnceItIsClosed() {
        closing(false).verify();
    }

    @Test
    void ephemeralOneDoesNotKeepTheNextOneWaiting() {
        FaultDriver.of("kept znode, next", run -> {
                    run.rival("throws it out", me -> run.deleteZnodesOfVictim());
                    run.victim().start(me -> {
                        try (KeptNode node = keep(me, true)) {
                            node.awaitCreated(Duration.ofMinutes(1));
                            run.pause(Duration.ofMillis(500));
                        }
                    });
                    run.untilAtRest();
                    run.helper("next").start(me -> {
                        try (KeptNode node = keep(me, true)) {
                            node.awaitCreated(Duration.ofMinutes(1));
                        }
                    });
                })
                .within(Duration.ofMinutes(2))
                .verify();
    }
}
