package io.conclave.benchmarks;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A kind of lock and how it is used.
 *
 * @param kind what is acquired
 * @param contenders how many want it all the time
 * @param awaitRelease whether a holder waits for the confirmation of its release, where the library lets it choose
 */
record LockCase(Kind kind, int contenders, boolean awaitRelease) {
    private static final int LOCKS = 10;
    private static final int PERMITS = 5;

    /** What is acquired. */
    enum Kind {
        /** One mutex. */
        LOCK("lock") {
            @Override
            RecipeClient.Mutex open(RecipeClient client, String path, LockCase how) {
                return client.mutex(path, how.awaitRelease);
            }
        },
        /** Several mutexes as one lock. */
        MULTI_LOCK("multi-lock of " + LOCKS) {
            @Override
            RecipeClient.Mutex open(RecipeClient client, String path, LockCase how) {
                List<String> paths = IntStream.range(0, LOCKS)
                        .mapToObj(number -> path + "/" + number)
                        .toList();
                return client.multiLock(paths);
            }
        },
        /**
         * One permit of a semaphore; of one that has a single permit if others want it, so that there is a hand-over.
         */
        SEMAPHORE("semaphore") {
            @Override
            RecipeClient.Mutex open(RecipeClient client, String path, LockCase how) {
                return client.semaphore(path, how.contenders == 1 ? PERMITS : 1);
            }
        };

        private final String label;

        Kind(String label) {
            this.label = label;
        }

        abstract RecipeClient.Mutex open(RecipeClient client, String path, LockCase how);
    }

    /** What one contender acquires. */
    RecipeClient.Mutex open(RecipeClient client, String parent) {
        return kind.open(client, parent + "-" + kind.label.replace(' ', '-') + "-" + contenders, this);
    }

    @Override
    public String toString() {
        String line = contenders == 1 ? "uncontended" : (contenders - 1) + " waiters";
        return kind.label + ", " + line + (awaitRelease ? "" : ", release not awaited");
    }
}
