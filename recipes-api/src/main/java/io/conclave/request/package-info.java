/**
 * What a session can be asked: reads, writes, transactions and watches of znodes. Immutable, and the same on every
 * backend.
 */
@NullMarked
package io.conclave.request;

import org.jspecify.annotations.NullMarked;
