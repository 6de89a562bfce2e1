/**
 * Two-phase commit among sites, as the ZooKeeper recipes page sketches it, with what the page leaves open: a durable
 * decision that is written once, the detection of dead sites, a deadline for votes, and the recovery of work that is in
 * doubt.
 *
 * <p>{@link io.conclave.commit.TwoPhaseCommit} begins transactions and lets sites join; a site's work is a
 * {@link io.conclave.commit.Participant}. All that decides a transaction is one znode: its creator has decided, and
 * everybody else reads it.
 */
@NullMarked
package io.conclave.commit;

import org.jspecify.annotations.NullMarked;
