/** The same operations on our server and on Apache ZooKeeper, and what they answer compared. */
@NullMarked
package io.conclave.proofs.differential;

import org.jspecify.annotations.NullMarked;
