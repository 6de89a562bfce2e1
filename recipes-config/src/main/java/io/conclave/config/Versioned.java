package io.conclave.config;

import io.conclave.node.NodeStat;

/**
 * A value as it was read or written, and which version of it: what a compare-and-set compares.
 *
 * @param <T> the type of the value
 * @param value the value
 * @param version how often the znode's data had been set
 * @param zxid the place of the change that set it among all changes of the store, as {@link NodeStat#mzxid()} has it;
 *     larger for a later one, on one key and among keys
 */
public record Versioned<T>(T value, int version, long zxid) {
    static <T> Versioned<T> of(T value, NodeStat stat) {
        return new Versioned<>(value, stat.version(), stat.mzxid());
    }

    /** As what a write expects: the server would take the version -1 for any. */
    ConditionalWrite.Expected asExpected() {
        if (version == -1) {
            throw new IllegalArgumentException(
                    "Invalid expected version -1: it must be that of a value that was read or written");
        }
        return new ConditionalWrite.Expected(version, zxid);
    }
}
