package io.conclave.commit;

import io.conclave.node.NodePath;

/**
 * Where the parts of one transaction are.
 *
 * @param base the znode of all transactions of one {@link TwoPhaseCommit}
 * @param id the transaction's
 */
record TransactionLayout(NodePath base, String id) {
    static final String VOTE_PREFIX = "vote-";

    /** The parent of all transactions. */
    static NodePath transactions(NodePath base) {
        return base.child("transactions");
    }

    /** The parent of what a site has to do. */
    static NodePath inbox(NodePath base, String site) {
        return base.child("sites").child(site);
    }

    NodePath path() {
        return transactions(base).child(id);
    }

    /** Empty until the site has voted; gone when the site has finished. */
    NodePath vote(String site) {
        return path().child(VOTE_PREFIX + site);
    }

    /** There while the site's session lives: ephemeral, of the site's own. */
    NodePath presence(String site) {
        return path().child("here-" + site);
    }

    /** There while the session lives that began the transaction. */
    NodePath coordinator() {
        return path().child("coordinator");
    }

    /** Whoever creates it has decided. */
    NodePath decision() {
        return path().child("decision");
    }

    /** There until the site has finished. */
    NodePath entry(String site) {
        return inbox(base, site).child(id);
    }
}
