package io.conclave.server;

import io.conclave.replica.Step;
import io.conclave.replica.StepListener;
import io.conclave.tree.TreeState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The digest of the state after each 128th zxid, which is the same on all members, for operators to compare. The last
 * ones only, and none from before the last snapshot that was installed. Written on the log's thread, read from any.
 */
final class DigestLog implements StepListener {
    /** Zxids between two digests, as in ZooKeeper: a zxid that has one ends in 00 or 80. */
    static final int EVERY = 128;

    static final int KEPT = 1024;

    private record Entry(long zxid, long digest) {}

    private final Deque<Entry> entries = new ArrayDeque<>();

    @Override
    public synchronized void began(TreeState state) {
        entries.clear();
    }

    @Override
    public void applied(List<Step> steps) {
        for (Step step : steps) {
            if (step.applied().zxid() % EVERY == 0) {
                add(step.applied().state());
            }
        }
    }

    private synchronized void add(TreeState state) {
        entries.addLast(new Entry(state.lastZxid(), state.digest()));
        if (entries.size() > KEPT) {
            entries.removeFirst();
        }
    }

    /** A line for each: the zxid in hexadecimal, a colon, the digest in decimal. */
    synchronized String text() {
        StringBuilder text = new StringBuilder();
        for (Entry entry : entries) {
            text.append(Long.toHexString(entry.zxid()))
                    .append(": ")
                    .append(entry.digest())
                    .append('\n');
        }
        return text.toString();
    }
}
