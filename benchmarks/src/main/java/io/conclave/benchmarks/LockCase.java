package io.conclave.benchmarks;

/**
 * How a mutex is used.
 *
 * @param contenders how many want it all the time
 * @param awaitRelease whether a holder waits for the confirmation of his release, where the library lets him choose
 */
record LockCase(int contenders, boolean awaitRelease) {
    @Override
    public String toString() {
        String line = contenders == 1 ? "uncontended" : (contenders - 1) + " waiters";
        return "lock, " + line + (awaitRelease ? "" : ", release not awaited");
    }
}
