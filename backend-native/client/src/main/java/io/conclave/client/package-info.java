/**
 * The client of the ZooKeeper wire protocol, over Netty: one backend for our servers and for Apache ZooKeeper 3.5 and
 * newer.
 *
 * <p>A {@link io.conclave.client.WireBackend} owns the event loops and opens sessions. A session, its connection and
 * its watches belong to one event loop; what the user is told goes through the session's dispatcher, never on the loop.
 */
@NullMarked
package io.conclave.client;

import org.jspecify.annotations.NullMarked;
