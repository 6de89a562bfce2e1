/** The states of a session, how a client proves its identity, and what a backend can do. */
@NullMarked
package io.conclave.session;

import org.jspecify.annotations.NullMarked;
