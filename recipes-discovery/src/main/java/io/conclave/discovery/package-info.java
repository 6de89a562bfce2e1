/** Services that register themselves, and providers that choose among their instances, in Curator's layout. */
@NullMarked
package io.conclave.discovery;

import org.jspecify.annotations.NullMarked;
