/**
 * What a backend implements: sessions that carry requests in order, and how a connect string finds the backend; and
 * what it says of itself, its deadlines and its capabilities, to recipes.
 */
@NullMarked
package io.conclave.spi;

import org.jspecify.annotations.NullMarked;
