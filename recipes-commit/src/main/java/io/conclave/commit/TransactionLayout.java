package io.conclave.commit;

import io.conclave.node.NodePath;
import java.util.Locale;

/**
 * Where the parts of one transaction are.
 *
 * @param base the znode of all transactions of one {@link TwoPhaseCommit}
 * @param id the transaction's
 */
record TransactionLayout(NodePath base, String id) {
    static final String VOTE_PREFIX = "vote-";

    private static final int RECORD_SHARDS = 64; // so that lists of names stay short

    /** The parent of all transactions. */
    static NodePath transactions(NodePath base) {
        return base.child("transactions");
    }

    /** The parent of what a site has to do. */
    static NodePath inbox(NodePath base, String site) {
        return base.child("sites").child(site);
    }

    /** The parent of what is kept of finished transactions, in shards. Each sweep writes to it. */
    static NodePath records(NodePath base) {
        return base.child("records");
    }

    /** The parent of all tickets. */
    static NodePath tickets(NodePath base) {
        return base.child("tickets");
    }

    /** What is consumed by the transaction that begins, so that it begins once. */
    NodePath ticket(String guid) {
        return tickets(base).child(guid);
    }

    /** What is kept of the transaction when it is finished. Where there is one, the id is used. */
    NodePath record() {
        return recordShard().child(id);
    }

    NodePath recordShard() {
        return records(base).child(String.format(Locale.ROOT, "%02x", Math.floorMod(id.hashCode(), RECORD_SHARDS)));
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

    /** Its creator has decided. */
    NodePath decision() {
        return path().child("decision");
    }

    /** There until the site has finished. */
    NodePath entry(String site) {
        return inbox(base, site).child(id);
    }
}
