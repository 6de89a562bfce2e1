package io.conclave.examples;

import io.conclave.grant.FencingToken;

/**
 * One time that a process held the lock, as it reported it.
 *
 * @param holder the process
 * @param token its fencing token
 * @param fromMs when it was granted, in milliseconds by the machine's clock
 * @param toMs when it was about to be given back
 * @param finished whether the process lived to give it back
 */
record HeldTurn(String holder, FencingToken token, long fromMs, long toMs, boolean finished) {
    /** Reads a worker's line. */
    static HeldTurn parse(String line) {
        String[] words = line.split(" ");
        return new HeldTurn(
                words[1],
                FencingToken.parse(words[2]),
                Long.parseLong(words[3]),
                Long.parseLong(words[4]),
                words[0].equals("DONE"));
    }
}
