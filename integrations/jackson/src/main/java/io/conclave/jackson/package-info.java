/** Codecs that keep values as JSON. A class for each line of Jackson loads that line only. */
@NullMarked
package io.conclave.jackson;

import org.jspecify.annotations.NullMarked;
