/**
 * The application's way in: connects to a backend, keeps a session alive, and opens a new one after a loss.
 */
@NullMarked
package io.conclave.coordinator;

import org.jspecify.annotations.NullMarked;
