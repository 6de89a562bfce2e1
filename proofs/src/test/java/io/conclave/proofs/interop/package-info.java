/**
 * Others' clients on our server, our client on others' servers, and both kinds mixed on one lock; and the servers that
 * other proofs use.
 */
@NullMarked
package io.conclave.proofs.interop;

import org.jspecify.annotations.NullMarked;
