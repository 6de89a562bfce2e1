/**
 * Groups whose members come and go with their sessions, delivered as numbered live views; znodes that are kept where
 * they are.
 */
@NullMarked
package io.conclave.membership;

import org.jspecify.annotations.NullMarked;
