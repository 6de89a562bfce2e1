/**
 * What a backend implements: sessions that carry requests in order, and how a connect string finds the backend.
 */
@NullMarked
package io.conclave.spi;

import org.jspecify.annotations.NullMarked;
