/**
 * What the tests of this project and of its users share; here the clock that tests move.
 */
@NullMarked
package io.conclave.testkit;

import org.jspecify.annotations.NullMarked;
