/**
 * The server inside the application's own JVM: the backend of {@code embedded:} and {@code embedded:<directory>}.
 */
@NullMarked
package io.conclave.embedded;

import org.jspecify.annotations.NullMarked;
