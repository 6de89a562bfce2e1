package io.conclave.config;

import java.io.IOException;

/**
 * Where the upper bound of a sequence is kept besides the coordination store, so that no id is given twice even if the
 * store's data is lost: a file, a row of a database. Ids below the bound may have been given; none from it on.
 *
 * <p>Called by one thread of a process at a time, which may block; several processes may use the same place.
 */
public interface Reservation {
    /**
     * The largest bound that was ever stored; 0 if there is none.
     *
     * @throws IOException if it cannot be read; then no ids are given
     */
    long upperBound() throws IOException;

    /**
     * Stores a bound durably: when it returns, the bound outlives the process and the machine's power. A smaller bound
     * than the stored one changes nothing.
     *
     * @throws IOException if it may not be stored
     */
    void raise(long upperBound) throws IOException;
}
