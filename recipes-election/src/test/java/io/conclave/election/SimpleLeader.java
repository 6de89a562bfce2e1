package io.conclave.election;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.RefusedException;
import io.conclave.grant.FencingToken;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.UUID;

/**
 * A leader that writes its acknowledgement and does not look after it: what another candidate writes over it stays
 * there to be found.
 */
final class SimpleLeader {
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

    private final Actor actor;
    private final Coordinator coordinator;
    private final NodePath election;
    private final NodePath acknowledgement;
    private byte[] record = new byte[0];
    private Optional<NodePath> place = Optional.empty();

    SimpleLeader(Actor actor, NodePath election) {
        this.actor = actor;
        this.coordinator = actor.coordinator();
        this.election = election;
        this.acknowledgement = election.child(LeaderNode.NAME);
    }

    Actor actor() {
        return actor;
    }

    /** Stands in the line until it leads, or the time is over. */
    boolean leadsWithin(FaultRun run, Duration timeout) throws InterruptedException {
        try {
            Create.Created entry = coordinator.execute(Create.of(election.child("_c_" + UUID.randomUUID() + "-lock-"))
                    .withMode(CreateMode.EPHEMERAL_SEQUENTIAL));
            place = Optional.of(entry.path());
            FencingToken token = new FencingToken(
                    RecipeAccess.session(coordinator).generation(), entry.stat().czxid());
            record = new LeaderRecord(token, entry.path().name(), "usurper".getBytes(UTF_8)).toBytes();
        } catch (RefusedException noLineYet) {
            return false;
        }
        for (Duration waited = Duration.ZERO; waited.compareTo(timeout) < 0; waited = waited.plus(BETWEEN_LOOKS)) {
            if (isFirst() && acknowledges()) {
                return true;
            }
            run.pause(BETWEEN_LOOKS);
        }
        leave();
        return false;
    }

    private boolean isFirst() throws InterruptedException {
        String first = coordinator.execute(GetChildren.of(election)).names().stream()
                .filter(name -> !name.equals(LeaderNode.NAME))
                .min(Comparator.comparing(SimpleLeader::number))
                .orElse("");
        return place.filter(own -> own.name().equals(first)).isPresent();
    }

    private static String number(String name) {
        return name.substring(name.lastIndexOf('-') + 1);
    }

    private boolean acknowledges() throws InterruptedException {
        try {
            coordinator.execute(Create.of(acknowledgement).withData(record).withMode(CreateMode.EPHEMERAL));
            return true;
        } catch (RefusedException formerLeader) {
            return false;
        }
    }

    /** Reports what another candidate wrote over its acknowledgement. */
    void checkAndResign(FaultRun run) throws InterruptedException {
        try {
            GetData.NodeData present = coordinator.execute(GetData.of(acknowledgement));
            boolean isOurs = present.stat().ephemeralOwner()
                    == RecipeAccess.session(coordinator).id();
            if (isOurs && !present.bytes().contentEquals(record)) {
                run.violated("somebody has overwritten what the leader wrote: " + LeaderRecord.leaderOf(present));
            }
            if (isOurs) {
                coordinator.execute(Delete.of(acknowledgement));
            }
        } catch (RefusedException gone) {
            // the late deletion of a former leader may meet its successor's
        }
        leave();
    }

    private void leave() throws InterruptedException {
        coordinator.execute(Delete.of(place.orElseThrow()));
    }
}
