package io.conclave.importing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Compares a tree that is replayed with the digests that ZooKeeper wrote, to find out whether a log is missing where
 * the numbers of transactions do not tell: a leader may go after any transaction, and the next one begins an epoch.
 */
final class DigestComparison {
    private final ReplayedTree tree;
    private final List<EpochBegin> begins = new ArrayList<>();

    /** The {@link ForeignDigest} that the tree should have now, if ZooKeeper wrote it. */
    private OptionalLong written;

    /** One whose first transaction is replayed next. */
    private @Nullable EpochBegin begin;

    DigestComparison(ReplayedTree tree, OptionalLong written) {
        this.tree = tree;
        this.written = written;
    }

    private enum Fit {
        YES,
        NO,
        UNKNOWN
    }

    /** A file that begins with the first transaction of an epoch, and whether the digests fit around that. */
    private record EpochBegin(Path file, long lastBefore, long first, Fit before, Fit behind) {
        EpochBegin behind(Fit fit) {
            return new EpochBegin(file, lastBefore, first, before, fit);
        }

        @Override
        public String toString() {
            return file + " begins an epoch with 0x" + Long.toHexString(first) + ", after 0x"
                    + Long.toHexString(lastBefore);
        }
    }

    /** Before the first transaction of an epoch is replayed that a file begins with. */
    void epochBegins(Path file, long lastBefore, long first) {
        begin = new EpochBegin(file, lastBefore, first, fit(), Fit.UNKNOWN);
    }

    /** A transaction was replayed, with which ZooKeeper wrote this digest. */
    void replayed(OptionalLong digest) {
        written = digest;
        if (begin != null) {
            begins.add(begin.behind(fit()));
            begin = null;
        }
    }

    private Fit fit() {
        if (written.isEmpty()) {
            return Fit.UNKNOWN;
        }
        return written.getAsLong() == tree.digest() ? Fit.YES : Fit.NO;
    }

    /**
     * All is replayed. ZooKeeper goes on if digests differ, which they also do if its servers do. So a difference is
     * noted, and refused only where it begins with an epoch.
     *
     * @param notes gets what is not certain
     * @return whether the tree is the one of which ZooKeeper wrote the last digest
     * @throws IOException if transactions are missing
     */
    boolean finish(List<String> notes) throws IOException {
        Fit atTheEnd = fit();
        if (atTheEnd == Fit.YES) {
            return true;
        }
        for (EpochBegin begin : begins) {
            if (begin.before() == Fit.YES && begin.behind() == Fit.NO) {
                throw new IOException(begin + ", and transactions between the two are missing: ZooKeeper's digest of"
                        + " the tree fits before, and not behind. Is a log missing? If not, its servers differed: take"
                        + " the files of the one that was the leader.");
            }
            if (begin.before() != Fit.YES || begin.behind() != Fit.YES) {
                notes.add(begin + ": if a log between the two is missing, that cannot be noticed. See whether another"
                        + " ZooKeeper server has one.");
            }
        }
        if (atTheEnd == Fit.NO) {
            notes.add("The tree is not the one of which ZooKeeper wrote a digest with its last transaction. Either its"
                    + " servers differed, or something is missing.");
        }
        return false;
    }
}
