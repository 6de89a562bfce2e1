/** Conclave in Spring Cloud: its discovery client and its service registry, beside Spring Cloud ZooKeeper's. */
@NullMarked
package io.conclave.spring.cloud;

import org.jspecify.annotations.NullMarked;
