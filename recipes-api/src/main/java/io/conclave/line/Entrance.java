package io.conclave.line;

import io.conclave.coordinator.ParentMaker;
import io.conclave.coordinator.RecipeSession;
import io.conclave.coordinator.Refusals;
import io.conclave.coordinator.Waiting;
import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.spi.Create;
import io.conclave.spi.GetChildren;
import io.conclave.spi.GetData;
import io.conclave.spi.Sync;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets a contender its znode, exactly one: creates it with the parents it needs, and after a lost reply finds by the guid what came of the creation.
 *
 * <p>A creation without an answer took effect before the first answer on the next connection, or never will: so what is not found then is created
 * again. State belongs to the dispatcher.
 */
final class Entrance {
    private static final Logger LOG = LoggerFactory.getLogger(Entrance.class);

    private final Contender contender;
    private final RecipeSession session;
    private final NodePath line;
    private final EntryKind kind;
    private final String guid;
    private final byte[] data;
    private boolean creationInFlight;

    Entrance(Contender contender, NodePath line, EntryKind kind, String guid, byte[] data) {
        this.contender = contender;
        this.session = contender.session();
        this.line = line;
        this.kind = kind;
        this.guid = guid;
        this.data = data;
    }

    /** Whether a creation was sent and not answered. */
    boolean isCreationInFlight() {
        return creationInFlight;
    }

    /** Creates the znode, and has the line read behind it in the same breath. */
    void create() {
        creationInFlight = true;
        Create request =
                Create.of(line.child(kind.nameOf(guid))).withData(data).withMode(CreateMode.EPHEMERAL_SEQUENTIAL);
        contender.send(request, this::onCreated, this::onNotCreated);
        contender.lookout().lookBehindCreation();
    }

    private void onCreated(Create.Created created) {
        creationInFlight = false;
        contender.onCreated(created.path(), created.stat());
    }

    private void onNotCreated(Throwable cause) {
        creationInFlight = false;
        if (cause instanceof OutcomeUnknownException) {
            if (contender.isInLine()) {
                recover();
            } else {
                contender.departure().searchAndDelete();
            }
        } else if (Refusals.isNoNode(cause) && contender.isInLine()) {
            ParentMaker.makeContainers(session, line).whenComplete((done, failure) -> onParents(failure));
        } else {
            contender.failWithoutZnode(cause);
        }
    }

    private void onParents(@Nullable Throwable failure) {
        if (failure == null && contender.isInLine()) {
            create();
        } else {
            contender.failWithoutZnode(failure == null ? new ClosedException("Abandoned") : Waiting.cause(failure));
        }
    }

    /** The sync makes sure that the server we list from has heard of the creation. */
    private void recover() {
        contender.measurements().recovering();
        // One after the other: a list that came by another connection than the sync may be older than the creation.
        contender.send(Sync.of(line), synced -> search(), this::onRecoveryFailed);
    }

    private void search() {
        contender.send(GetChildren.of(line), children -> onListed(children.names()), this::onRecoveryFailed);
    }

    private void onRecoveryFailed(Throwable cause) {
        if (cause instanceof OutcomeUnknownException && contender.isInLine()) {
            recover();
        } else if (Refusals.isNoNode(cause) && contender.isInLine()) {
            create();
        } else {
            contender.fail(cause);
        }
    }

    private void onListed(List<String> names) {
        if (!contender.isInLine()) {
            return; // the departure searches for itself
        }
        List<LineEntry> ours = LineEntry.of(guid, Set.of(kind), names);
        if (ours.isEmpty()) {
            create();
            return;
        }
        LOG.debug("{}: found again after a lost reply: {}", contender, ours);
        ours.subList(1, ours.size())
                .forEach(surplus -> contender.departure().deleteSurplus(line.child(surplus.name())));
        readFound(line.child(ours.get(0).name()));
    }

    private void readFound(NodePath path) {
        contender.send(GetData.of(path), node -> contender.onFoundAgain(path, node.stat()), cause -> {
            if (cause instanceof OutcomeUnknownException && contender.isInLine()) {
                recover();
            } else {
                contender.ownPlace().onReadFailed(cause);
            }
        });
    }
}
