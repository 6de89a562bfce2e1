/**
 * What tests of the house and of its users share; here the clock that is moved by hand.
 */
@NullMarked
package io.conclave.testkit;

import org.jspecify.annotations.NullMarked;
