/**
 * Certificate authorities and certificates for tests of TLS.
 */
@NullMarked
package io.conclave.testkit.tls;

import org.jspecify.annotations.NullMarked;
