/**
 * What happened to a lock in a run, and whether it may have happened.
 */
@NullMarked
package io.conclave.testkit.history;

import org.jspecify.annotations.NullMarked;
