/**
 * Leader election on the wait line: campaign, observe, hand over to a named candidate. Leadership will be a {@link io.conclave.grant.Grant}.
 */
@NullMarked
package io.conclave.election;

import org.jspecify.annotations.NullMarked;
