/**
 * What lock, leadership, membership and permit have in common: deadline, loss signal and, but for the permit, a token.
 */
@NullMarked
package io.conclave.grant;

import org.jspecify.annotations.NullMarked;
