/** What live views and caches show of a part of the tree: its znodes, its states, and how they differ. */
@NullMarked
package io.conclave.cache;

import org.jspecify.annotations.NullMarked;
