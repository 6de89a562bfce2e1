package io.conclave.benchmarks;

/** Where the sessions of a case are connected. */
enum Place {
    /** To a server that is alone. */
    STANDALONE("alone"),
    /** To the leader of an ensemble. */
    LEADER("leader"),
    /** To a server that follows. */
    FOLLOWER("follower");

    private final String label;

    Place(String label) {
        this.label = label;
    }

    @Override
    public String toString() {
        return label;
    }
}
