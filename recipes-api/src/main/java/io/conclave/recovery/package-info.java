/**
 * What recipes do about requests that failed: send them again now or later, find out, delete until it is gone, follow
 * the session.
 */
@NullMarked
package io.conclave.recovery;

import org.jspecify.annotations.NullMarked;
