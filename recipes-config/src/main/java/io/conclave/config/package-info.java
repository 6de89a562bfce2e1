/**
 * Configuration service, node, children and subtree caches, shared values, counters and unique ids.
 */
@NullMarked
package io.conclave.config;

import org.jspecify.annotations.NullMarked;
