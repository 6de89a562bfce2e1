/**
 * Znodes as an application sees them: paths, stats, create modes, ACLs, watch events.
 */
@NullMarked
package io.conclave.node;

import org.jspecify.annotations.NullMarked;
