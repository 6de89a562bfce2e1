/**
 * The few file operations that the log stands on, so that it runs on a real file system and on a simulated one that
 * loses, tears and reorders what was not synced.
 */
@NullMarked
package io.conclave.consensus.disk;

import org.jspecify.annotations.NullMarked;
