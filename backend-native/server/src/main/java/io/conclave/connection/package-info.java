/**
 * What happens between a socket and the log: frames, handshakes, the request pipeline of each connection, watches and
 * replies. Everything of a connection happens on its event loop, so nothing here takes a lock.
 */
@NullMarked
package io.conclave.connection;

import org.jspecify.annotations.NullMarked;
