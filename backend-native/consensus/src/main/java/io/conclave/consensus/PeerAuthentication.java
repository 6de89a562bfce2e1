package io.conclave.consensus;

/** Whether the members of an ensemble prove to each other that they have the cluster's secret. */
public enum PeerAuthentication {
    /** A member takes only members that prove it. */
    REQUIRED,
    /**
     * A member proves it to those that ask for it, and takes members that do not: while a cluster moves to a secret.
     */
    OPTIONAL,
    /** Nobody proves anything: anyone who reaches the port of the members can do everything. */
    NONE
}
