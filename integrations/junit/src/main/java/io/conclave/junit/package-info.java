/**
 * Tests of applications with JUnit 5 and 6: {@link io.conclave.junit.ConclaveTest} and
 * {@link io.conclave.junit.ConclaveExtension} give a test a store in memory or real servers, coordinators, faults and a
 * clock.
 */
@NullMarked
package io.conclave.junit;

import org.jspecify.annotations.NullMarked;
