/** What only tests may do to a server; the module exports it to {@code conclave-server-testing} alone. */
@NullMarked
package io.conclave.server.faults;

import org.jspecify.annotations.NullMarked;
