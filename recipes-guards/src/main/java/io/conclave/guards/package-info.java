/**
 * Guards: they refuse what a holder or a leader writes after its grant has gone to another client.
 */
@NullMarked
package io.conclave.guards;

import org.jspecify.annotations.NullMarked;
