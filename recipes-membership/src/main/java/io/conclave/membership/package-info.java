/**
 * Groups whose members come and go with their sessions, delivered as numbered live views.
 */
@NullMarked
package io.conclave.membership;

import org.jspecify.annotations.NullMarked;
