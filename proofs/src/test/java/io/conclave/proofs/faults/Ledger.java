package io.conclave.proofs.faults;

import io.conclave.request.Create;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the server has acknowledged, over all its starts, and what that forbids: a sequence number or a zxid given
 * twice, or one that goes back. Thread-safe.
 *
 * <p>An answer may be read after the server that gave it was killed, so a client that records one says whether it came
 * over a connection to the restarted server.
 */
final class Ledger {
    // all @GuardedBy("this")
    private final Map<String, Long> created = new HashMap<>();
    private final Set<Long> sequenceNumbers = new HashSet<>();
    private final Set<Long> zxids = new HashSet<>();
    private final Map<String, Long> lastZxidOfWriter = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private long largestSequence = -1;
    private long largestZxid;
    private long sequenceOfFormerRun = -1;
    private long zxidOfFormerRun = -1;
    private long writes;

    /** A sequential znode was acknowledged to a writer, which issues one request after the other. */
    synchronized void created(String writer, Create.Created answer, boolean newRun) {
        String path = answer.path().toString();
        long sequence = Long.parseLong(path.substring(path.length() - 10));
        if (!sequenceNumbers.add(sequence)) {
            violations.add("sequence number " + sequence + " was given twice, the second time to " + path);
        }
        if (newRun && sequence <= sequenceOfFormerRun) {
            violations.add("sequence numbers decreased from " + sequenceOfFormerRun + " to " + sequence);
        }
        created.put(path, answer.stat().czxid());
        largestSequence = Math.max(largestSequence, sequence);
        wrote(writer, answer.stat().czxid(), path, newRun);
    }

    /** Any other write was acknowledged. */
    synchronized void wrote(String writer, long zxid, String what, boolean newRun) {
        writes++;
        if (!zxids.add(zxid)) {
            violations.add("zxid " + Long.toHexString(zxid) + " was given twice, the second time to " + what);
        }
        Long last = lastZxidOfWriter.put(writer, zxid);
        if (last != null && zxid <= last) {
            violations.add(writer + ": zxid went from " + Long.toHexString(last) + " to " + Long.toHexString(zxid));
        }
        if (newRun && zxid <= zxidOfFormerRun) {
            violations.add(
                    "zxids decreased from " + Long.toHexString(zxidOfFormerRun) + " to " + Long.toHexString(zxid));
        }
        largestZxid = Math.max(largestZxid, zxid);
    }

    /** The znode is about to be deleted by the test: whether it is there is open from now on. */
    synchronized void forget(String path) {
        created.remove(path);
    }

    /**
     * The server is dead and not yet started again: what it gives after its next start must be larger than all that is
     * known now.
     */
    synchronized void serverEnded() {
        sequenceOfFormerRun = largestSequence;
        zxidOfFormerRun = largestZxid;
    }

    /** Something else was seen that must not be. */
    synchronized void violated(String what) {
        violations.add(what);
    }

    /** The znodes that must exist, with their creation zxids. */
    synchronized Map<String, Long> created() {
        return Map.copyOf(created);
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    synchronized long writes() {
        return writes;
    }
}
