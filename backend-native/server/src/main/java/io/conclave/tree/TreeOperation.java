package io.conclave.tree;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a session asks to be done to the tree. Arrays are not copied: they must not change after they are handed over.
 */
public sealed interface TreeOperation {
    /** The version that matches every version. */
    int ANY_VERSION = -1;

    /** The longest time to live that the owner of a node has room for: 2^40 - 1 ms, as in ZooKeeper. */
    long MAX_TTL_MS = (1L << 40) - 1;

    /** Whether a node can have this time to live: 1 to {@link #MAX_TTL_MS}. */
    static boolean isTtl(long ttlMs) {
        return ttlMs >= 1 && ttlMs <= MAX_TTL_MS;
    }

    /**
     * Adds a node. Data may be null, which a client can tell from empty data.
     *
     * @param ttlMs the time to live of a mode that has one, else 0
     */
    record Create(String path, byte @Nullable [] data, ZnodeAcl acl, ZnodeKind mode, long ttlMs)
            implements TreeOperation {
        public Create {
            requireNonNull(path, "path");
            requireNonNull(acl, "acl");
            if (mode.hasTtl() ? !isTtl(ttlMs) : ttlMs != 0) {
                throw new IllegalArgumentException("a time to live of " + ttlMs + " ms for the mode " + mode);
            }
        }

        /** Without a time to live. */
        public Create(String path, byte @Nullable [] data, ZnodeAcl acl, ZnodeKind mode) {
            this(path, data, acl, mode, 0);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Create that
                    && path.equals(that.path)
                    && Arrays.equals(data, that.data)
                    && acl.equals(that.acl)
                    && mode == that.mode
                    && ttlMs == that.ttlMs;
        }

        @Override
        public int hashCode() {
            return Objects.hash(path, Arrays.hashCode(data), acl, mode, ttlMs);
        }

        @Override
        public String toString() {
            return "Create[" + path + ", " + lengthOf(data) + ", " + acl + ", " + mode
                    + (mode.hasTtl() ? ", " + ttlMs + " ms]" : "]");
        }
    }

    /** Removes a node that has no children. */
    record Delete(String path, int version) implements TreeOperation {
        public Delete {
            requireNonNull(path, "path");
        }
    }

    /** Replaces the data of a node. */
    record SetData(String path, byte @Nullable [] data, int version) implements TreeOperation {
        public SetData {
            requireNonNull(path, "path");
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof SetData that
                    && path.equals(that.path)
                    && Arrays.equals(data, that.data)
                    && version == that.version;
        }

        @Override
        public int hashCode() {
            return Objects.hash(path, Arrays.hashCode(data), version);
        }

        @Override
        public String toString() {
            return "SetData[" + path + ", " + lengthOf(data) + ", version " + version + "]";
        }
    }

    /** Replaces the ACL of a node; the version is that of the ACL. */
    record SetAcl(String path, ZnodeAcl acl, int version) implements TreeOperation {
        public SetAcl {
            requireNonNull(path, "path");
            requireNonNull(acl, "acl");
        }
    }

    /** Demands a version of a node's data and changes nothing; only as a part of a {@link Multi}. */
    record Check(String path, int version) implements TreeOperation {
        public Check {
            requireNonNull(path, "path");
        }
    }

    /** All of the parts or none of them; a multi does not hold another. */
    record Multi(List<TreeOperation> parts) implements TreeOperation {
        public Multi {
            parts = List.copyOf(parts);
            for (TreeOperation part : parts) {
                if (part instanceof Multi) {
                    throw new IllegalArgumentException("a multi inside a multi: " + part);
                }
            }
        }
    }

    private static String lengthOf(byte @Nullable [] data) {
        return data == null ? "no data" : data.length + " bytes";
    }
}
