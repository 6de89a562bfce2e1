/**
 * The server put together: its configuration, the assembly of log, replica and connections, the expiry of sessions and
 * the removal of empty containers.
 */
@NullMarked
package io.conclave.server;

import org.jspecify.annotations.NullMarked;
