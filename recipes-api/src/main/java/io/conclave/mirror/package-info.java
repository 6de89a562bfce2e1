/**
 * Mirrors of a part of the tree, which follow it through lost connections and sessions: what the live views of groups
 * and the caches of configuration are made of. For authors of recipes.
 */
@NullMarked
package io.conclave.mirror;

import org.jspecify.annotations.NullMarked;
