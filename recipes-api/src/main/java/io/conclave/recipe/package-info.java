/**
 * What recipes work with: one session of the coordinator, requests sent over it, waiting for their answers, and what
 * their failures say. Exported to our own recipes only.
 */
@NullMarked
package io.conclave.recipe;

import org.jspecify.annotations.NullMarked;
