/**
 * Leader election on the wait line: campaign, observe, hand over to a named candidate. Leadership is a
 * {@link io.conclave.grant.FencedGrant}.
 *
 * <p>Candidates stand in the line of {@code io.conclave.line} as those for a lock do. What an election has beyond a
 * lock is the acknowledgement, the ephemeral {@code <path>/leader}: it exists when the leader knows that it leads, and
 * is all that observers look at.
 */
@NullMarked
package io.conclave.election;

import org.jspecify.annotations.NullMarked;
