package io.conclave.queues;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusedException;
import io.conclave.node.CreateMode;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.Delete;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultDriver;
import io.conclave.testkit.driver.FaultFoundError;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The fault driver finds the mistakes that queues on a coordination store usually have: so it would find them in ours. */
class PlantedMistakesTest {
    private static final NodePath PATH = NodePath.of("/queues/naive");

    private static DistributedQueue<String> queue(Actor actor) {
        return DistributedQueue.at(actor.coordinator(), PATH, DataCodec.TEXT);
    }

    /** Looks for its guid after a lost reply, as the recipes page has it; but the item may have been taken by then. */
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

    /** Takes the item for its own if it is gone after a lost reply; but somebody else may have taken it. */
    private static String takeByLooking(Coordinator coordinator) throws InterruptedException {
        while (true) {
            List<ItemName> items =
                    ItemName.unclaimed(coordinator.execute(GetChildren.of(PATH)).names(), false);
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
                // somebody was quicker: the next
            }
        }
    }

    @Test
    void putThatLooksForItsGuidAloneIsFoundOut() {
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
        assertTrue(found.getMessage().contains("came out twice"), found.getMessage());
    }

    @Test
    void takeThatOnlyLooksWhetherTheItemIsGoneIsFoundOut() {
        FaultFoundError found =
                assertThrows(FaultFoundError.class, () -> FaultDriver.of("planted: take by looking", run -> {
                            Ledger ledger = new Ledger(run);
                            Actor other = run.helper("other");
                            for (String item : new String[] {"a", "b", "c"}) {
                                ledger.put(item, () -> queue(other).put(item));
                            }
                            run.victim().start(me -> ledger.out(takeByLooking(me.coordinator())));
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
                        .pairs(400)
                        .verify());
        assertTrue(
                found.getMessage().matches("(?s).*(came out twice|lost: ).*"),
                found.getMessage()); // whichever is found first
    }
}
