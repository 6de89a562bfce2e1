/** What the release scripts run; no part of what users get. */
@NullMarked
package io.conclave.publishing;

import org.jspecify.annotations.NullMarked;
