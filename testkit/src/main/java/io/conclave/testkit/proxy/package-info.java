/**
 * A TCP proxy that breaks connections on purpose.
 */
@NullMarked
package io.conclave.testkit.proxy;

import org.jspecify.annotations.NullMarked;
