/**
 * How long no client can write when a leader goes, measured on ensembles of both kinds in turns.
 */
@NullMarked
package io.conclave.proofs.failover;

import org.jspecify.annotations.NullMarked;
