/**
 * Groups whose members come and go with their sessions, delivered as numbered live views; znodes that are kept where
 * they are; partitions that are divided among members.
 */
@NullMarked
package io.conclave.membership;

import org.jspecify.annotations.NullMarked;
