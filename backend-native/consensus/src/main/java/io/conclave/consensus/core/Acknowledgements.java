package io.conclave.consensus.core;

import java.util.HashMap;
import java.util.Map;

/**
 * What the others have acknowledged to this member, in the terms since its start in which it led, of what is committed.
 * A directory that has less was another one then.
 */
final class Acknowledgements {
    private record Acknowledged(long directory, long index) {}

    private final Map<Integer, Acknowledged> byMember = new HashMap<>();

    void add(int member, long directory, long index) {
        if (directory != 0 && index > of(member, directory)) {
            byMember.put(member, new Acknowledged(directory, index));
        }
    }

    /** 0 if nothing is known of the member with that directory. */
    long of(int member, long directory) {
        Acknowledged last = byMember.get(member);
        return last == null || last.directory() != directory ? 0 : last.index();
    }
}
