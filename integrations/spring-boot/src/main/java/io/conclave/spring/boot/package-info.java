/**
 * Conclave in Spring Boot: a coordinator from properties, its health and its metrics.
 */
@NullMarked
package io.conclave.spring.boot;

import org.jspecify.annotations.NullMarked;
