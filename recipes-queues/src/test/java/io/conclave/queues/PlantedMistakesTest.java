package io.conclave.queues;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.Fault;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The fault driver finds the mistakes that queues on a coordination store usually have: so it would find them in ours.
 */
@Tag("proof")
class PlantedMistakesTest {
    private static final NodePath PATH = NodePath.of("/queues/naive");

    private static DistributedQueue<String> queue(Actor actor) {
        return DistributedQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    /**
     * Looks for its guid after a lost reply, as the recipes page defines it; but the item may have been taken by then.
     */
    private static void putByGuid(Coordinator coordinator, String item) throws InterruptedException {
        String guid = UUID.randomUUID().toString();
        boolean there = false;
        while (!there) {
            try {
                coordinator.execute(Create.of(PATH.child(ItemName.toCreate(guid)))
                        .withData(item.getBytes(UTF_8))
                        .withMode(CreateMode.PERSISTENT_SEQUENTIAL));
                there = true;
            } catch (OutcomeUnknownException e) {
                there = coordinator.execute(GetChildren.of(PATH)).names().stream()
                        .anyMatch(name -> name.contains(guid));
            }
        }
    }

    /** Takes the item for its own if it is gone after a lost reply; but another consumer may have taken it. */
    private static String takeByLooking(Coordinator coordinator) throws InterruptedException {
        while (true) {
            List<ItemName> items =
                    ItemName.unclaimed(coordinator.execute(GetChildren.of(PATH)).names(), ItemOrder.BY_SEQUENCE);
            NodePath path = PATH.child(items.get(0).name());
            try {
                String item = new String(coordinator.execute(GetData.of(path)).data(), UTF_8);
                try {
                    coordinator.execute(Delete.of(path));
                    return item;
                } catch (OutcomeUnknownException e) {
                    if (!coordinator.execute(GetChildren.of(PATH)).names().contains(path.name())) {
                        return item;
                    }
                }
            } catch (RefusedException e) {
                // another consumer was quicker: the next
            }
        }
    }

    /** Reads the first item, deletes it, and has it, whatever came of the deletion. */
    private static String takeWithoutLooking(Coordinator coordinator) throws InterruptedException {
        NodePath path = PATH.child(
                ItemName.unclaimed(coordinator.execute(GetChildren.of(PATH)).names(), ItemOrder.BY_SEQUENCE)
                        .get(0)
                        .name());
        String item = new String(coordinator.execute(GetData.of(path)).data(), UTF_8);
        try {
            coordinator.execute(Delete.of(path));
        } catch (OutcomeUnknownException | RefusedException e) {
            // it is gone, by any client's deletion
        }
        return item;
    }

    /** Claims the first item and gives it back after a moment. */
    private static void claimAndGiveBack(FaultRun run, RecipeSession session, CreateMode mode)
            throws InterruptedException {
        ItemName first = ItemName.unclaimed(
                        Waiting.await(session, session.submit(GetChildren.of(PATH)))
                                .names(),
                        ItemOrder.BY_SEQUENCE)
                .get(0);
        try {
            Waiting.await(
                    session, session.submit(Create.of(PATH.child(first.claim())).withMode(mode)));
            run.pause(Duration.ofMillis(500)); // at work
        } catch (OutcomeUnknownException e) {
            // it may have been claimed: give it back
        } finally {
            giveBack(session, PATH.child(first.claim()));
        }
    }

    private static void giveBack(RecipeSession session, NodePath claim) {
        while (true) {
            try {
                Waiting.awaitUninterruptibly(session, session.submit(Delete.of(claim)));
                return;
            } catch (OutcomeUnknownException e) {
                // again
            } catch (RefusedException | SessionGoneException e) {
                return; // it is not there, or goes with its session: if it is ephemeral
            }
        }
    }

    private static FaultDriver claiming(CreateMode mode) {
        return FaultDriver.of("planted: claims are " + mode, run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    ledger.put("a", () -> queue(other).put("a"));
                    run.victim().start(me -> claimAndGiveBack(run, RecipeAccess.session(me.coordinator()), mode));
                    run.victim().join();
                    ledger.close(other, queue(other), false);
                })
                .leaving(path -> path.toString().startsWith("/queues"))
                .explaining(OutcomeUnknownException.class, Fault.values()) // reads are not repeated here
                .within(Duration.ofMinutes(3));
    }

    private static void tell(String mistake, FaultFoundError found) {
        System.out.println(mistake + " found after " + found.runs() + " runs, with " + found.plan());
        assertTrue(found.runs() > 0, found::getMessage);
    }

    @Test
    void putThatLooksForItsGuidAloneIsFound() {
        FaultFoundError found =
                assertThrows(FaultFoundError.class, () -> FaultDriver.of("planted: put by guid", run -> {
                            Ledger ledger = new Ledger(run);
                            Actor taker = run.helper("taker");
                            ledger.put("first", () -> queue(taker).put("first"));
                            taker.start(me -> {
                                Optional<String> item = queue(me).take(Duration.ofSeconds(30));
                                while (item.isPresent()) {
                                    ledger.out(item.get());
                                    item = queue(me).take(Duration.ofSeconds(30));
                                }
                            });
                            run.untilAtRest();
                            run.victim().start(me -> ledger.put("a", () -> putByGuid(me.coordinator(), "a")));
                            run.victim().join();
                            taker.join();
                            ledger.close(taker, queue(taker), false);
                        })
                        .leaving(path -> path.toString().startsWith("/queues"))
                        .within(Duration.ofMinutes(3))
                        .verify());
        tell("put that looks for its guid alone", found);
        assertTrue(found.getMessage().contains("came out twice"), found.getMessage());
    }

    private static FaultDriver taking(String name, Take take) {
        return FaultDriver.of("planted: " + name, run -> {
                    Ledger ledger = new Ledger(run);
                    Actor other = run.helper("other");
                    for (String item : new String[] {"a", "b", "c"}) {
                        ledger.put(item, () -> queue(other).put(item));
                    }
                    run.victim().start(me -> ledger.out(take.from(me.coordinator())));
                    other.start(me -> {
                        run.pause(Duration.ofMillis(100)); // while the victim's connection is away
                        ledger.out(queue(me).take());
                    });
                    run.victim().join();
                    other.join();
                    ledger.close(other, queue(other), true);
                })
                .leaving(path -> path.toString().startsWith("/queues"))
                .within(Duration.ofMinutes(3))
                .pairs(400);
    }

    private interface Take {
        String from(Coordinator coordinator) throws InterruptedException;
    }

    @Test
    void takeThatOnlyChecksThatTheItemIsGoneIsFound() {
        FaultFoundError found =
                assertThrows(FaultFoundError.class, () -> taking("take by looking", PlantedMistakesTest::takeByLooking)
                        .verify());
        tell("take that only looks whether the item is gone", found);
        assertTrue(
                found.getMessage().matches("(?s).*(came out twice|lost: ).*"),
                found.getMessage()); // whichever is found first
    }

    @Test
    void takeThatIgnoresTheOutcomeOfItsDeletionIsFound() {
        FaultFoundError found = assertThrows(
                FaultFoundError.class, () -> taking("take without looking", PlantedMistakesTest::takeWithoutLooking)
                        .verify());
        tell("take that ignores the outcome of its deletion", found);
        assertTrue(found.getMessage().contains("came out twice"), found.getMessage());
    }

    @Test
    void claimThatBelongsToNoSessionIsFound() {
        claiming(CreateMode.EPHEMERAL).verify();
        FaultFoundError found = assertThrows(
                FaultFoundError.class, () -> claiming(CreateMode.PERSISTENT).verify());
        tell("claim that belongs to no session", found);
        assertTrue(found.getMessage().contains("lost: [a]"), found.getMessage());
    }
}
