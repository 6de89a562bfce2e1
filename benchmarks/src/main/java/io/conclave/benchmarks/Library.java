package io.conclave.benchmarks;

/** The libraries whose recipes are compared, both as clients of the same server. */
enum Library {
    /** This project. */
    CONCLAVE("conclave") {
        @Override
        RecipeClient connect(String hostAndPort) {
            return new ConclaveRecipes(hostAndPort);
        }
    },
    /** Apache Curator. */
    CURATOR("curator") {
        @Override
        RecipeClient connect(String hostAndPort) {
            return new CuratorRecipes(hostAndPort);
        }
    };

    private final String label;

    Library(String label) {
        this.label = label;
    }

    /** A session of its own. Blocks until it is connected. */
    abstract RecipeClient connect(String hostAndPort);

    String label() {
        return label;
    }
}
