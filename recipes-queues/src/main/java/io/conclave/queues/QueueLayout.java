package io.conclave.queues;

import io.conclave.node.NodePath;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import java.util.concurrent.CompletionStage;

/**
 * Where the znodes of a queue are.
 *
 * @param path the queue's own znode; its children are the items and, beside each item that a consumer works on, its
 *     claim
 * @param agents what stands around the items: the lines, the commit markers, the dead letters
 */
record QueueLayout(NodePath path, NodePath agents) {
    /** Everything below the queue's own znode. */
    static QueueLayout within(NodePath path) {
        return new QueueLayout(path, path);
    }

    /**
     * Below the queue's own znode nothing but items and claims, as in Curator's queues: a consumer of Curator's takes
     * any other child for an item that is due, and then sets no timer for those that are not yet.
     */
    static QueueLayout besideCurator(NodePath path) {
        return path.isRoot() // which is refused
                ? within(path)
                : new QueueLayout(path, path.parent().orElseThrow().child(path.name() + "-conclave"));
    }

    /** Whether the queue's own znode may be missing while the lines are there. */
    boolean isApart() {
        return !path.equals(agents);
    }

    /**
     * Makes the queue's own znode: a container, or a persistent one if consumers of Curator's may watch it, who do not
     * notice that it is made again.
     */
    CompletionStage<Void> makeQueue(RecipeSession session) {
        return isApart() ? ParentMaker.makePersistent(session, path) : ParentMaker.makeContainers(session, path);
    }

    NodePath item(ItemName item) {
        return path.child(item.name());
    }

    NodePath claim(ItemName item) {
        return path.child(item.claim());
    }

    /** The line in which consumers wait for their turn. */
    NodePath consumers() {
        return agents.child("consumers");
    }

    /** The line in which producers of a bounded queue wait for their turn. */
    NodePath producers() {
        return agents.child("producers");
    }

    /** See {@link CommitMarker}. */
    NodePath commitMarkers() {
        return agents.child("witnesses");
    }

    /** The queue of dead letters. */
    NodePath dead() {
        return agents.child("dead");
    }
}
