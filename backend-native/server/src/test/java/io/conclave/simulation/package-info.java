/**
 * Whole servers and their clients in one thread and in virtual time, from one seed: log files on simulated disks, links
 * and connections that break, clocks that drift, and what all of this must never show.
 */
package io.conclave.simulation;
