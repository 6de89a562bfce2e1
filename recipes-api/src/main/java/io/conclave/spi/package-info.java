/**
 * What a backend keeps: sessions that carry requests in order, and the requests themselves.
 */
@NullMarked
package io.conclave.spi;

import org.jspecify.annotations.NullMarked;
