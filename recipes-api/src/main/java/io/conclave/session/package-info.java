/** The states of a session, and how a client proves its identity. */
@NullMarked
package io.conclave.session;

import org.jspecify.annotations.NullMarked;
