package io.conclave.queues;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Check;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives a claim back: deletes it, if the item has the version that the claim has given to it. So a later claim of the
 * same item stays.
 *
 * <p>If another client has written to the item or has deleted it meanwhile, what is there is looked at. A claim sets
 * the item in its own transaction. So a claim of this session that is older than the last write of the item can neither
 * be acknowledged nor given back by anybody, and would hide the item until the session ends: it is deleted, whichever
 * of ours it was. One that was made by the last write is a later one, and stays.
 *
 * <p>State belongs to the session's dispatcher.
 */
final class ClaimRelease {
    private static final Logger LOG = LoggerFactory.getLogger(ClaimRelease.class);

    private final RecipeSession session;
    private final QueueLayout layout;
    private final NodePath item;
    private final NodePath claim;

    private ClaimRelease(RecipeSession session, QueueLayout layout, ItemName name) {
        this.session = session;
        this.layout = layout;
        this.item = layout.item(name);
        this.claim = layout.claim(name);
    }

    /**
     * Begins, on the dispatcher. It does not give up before the claim is gone, or its session is.
     *
     * @param version what the claim has made the item's version
     */
    static void of(RecipeSession session, QueueLayout layout, ItemName name, int version) {
        ClaimRelease release = new ClaimRelease(session, layout, name);
        release.send(release.ifInVersion(version));
    }

    private Multi ifInVersion(int version) {
        return Multi.of(new Check(item, version), Delete.of(claim));
    }

    private void send(Multi deletion) {
        Waiting.whenDone(Settlement.of(session, claim, deletion), this::onSettled, this::onFailure);
        QueueAgents.of(session).onReturned(layout.path());
    }

    private void onSettled(Settlement.Result result) {
        result.refusal().ifPresent(refusal -> {
            if (Failures.isStale(refusal)) {
                look();
            } else {
                onFailure(refusal);
            }
        });
    }

    /** The item first: a claim that comes behind that raises its version, and is not deleted. */
    private void look() {
        session.readLatest(item, Exists.of(item), this::lookAtClaim, this::onNotRead);
    }

    private void lookAtClaim(Optional<NodeStat> itemStat) {
        session.read(
                Exists.of(claim),
                claimStat -> {
                    if (claimStat.filter(there -> isOutdated(there, itemStat)).isPresent()) {
                        send(itemStat.map(NodeStat::version)
                                .map(this::ifInVersion)
                                .orElseGet(() -> Multi.of(Delete.of(claim))));
                    }
                },
                this::onNotRead);
    }

    private boolean isOutdated(NodeStat claimStat, Optional<NodeStat> itemStat) {
        return claimStat.ephemeralOwner() == session.id()
                && itemStat.filter(there -> there.mzxid() == claimStat.czxid()).isEmpty();
    }

    private void onNotRead(Throwable cause) {
        Retry.ifItMayPass(session, claim, cause, this::look, this::onFailure);
    }

    private void onFailure(Throwable cause) {
        if (!Failures.isSessionOver(cause)) {
            LOG.warn("{}: cannot be given back, it stays until the session ends: {}", claim, cause.getMessage());
        }
    }
}
