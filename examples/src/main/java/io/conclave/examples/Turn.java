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
record Turn(String holder, FencingToken token, long fromMs, long toMs, boolean finished) {
    /** Reads a worker's line. */
    static Turn parse(String line) {
        String[] words = line.split(" ");
        return new Turn(
                words[1],
                new FencingToken(Long.parseLong(words[2]), Long.parseLong(words[3])),
                Long.parseLong(words[4]),
                Long.parseLong(words[5]),
                words[0].equals("DONE"));
    }
}
