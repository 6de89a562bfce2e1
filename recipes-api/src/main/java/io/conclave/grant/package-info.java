/**
 * What lock, leadership, membership and permit have in common: token, deadline and loss signal.
 */
@NullMarked
package io.conclave.grant;

import org.jspecify.annotations.NullMarked;
