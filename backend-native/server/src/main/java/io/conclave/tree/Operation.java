package io.conclave.tree;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a session asks to be done to the tree. Arrays are not copied: nobody changes them after handing them over. */
public sealed interface Operation {
    /** The version that matches every version. */
    int ANY_VERSION = -1;

    /** Adds a node. Data may be null, which a client can tell from empty data. */
    record Create(String path, byte @Nullable [] data, Acl acl, CreateMode mode) implements Operation {
        public Create {
            requireNonNull(path, "path");
            requireNonNull(acl, "acl");
            requireNonNull(mode, "mode");
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Create that
                    && path.equals(that.path)
                    && Arrays.equals(data, that.data)
                    && acl.equals(that.acl)
                    && mode == that.mode;
        }

        @Override
        public int hashCode() {
            return Objects.hash(path, Arrays.hashCode(data), acl, mode);
        }

        @Override
        public String toString() {
            return "Create[" + path + ", " + lengthOf(data) + ", " + acl + ", " + mode + "]";
        }
    }

    /** Removes a node that has no children. */
    record Delete(String path, int version) implements Operation {
        public Delete {
            requireNonNull(path, "path");
        }
    }

    /** Replaces the data of a node. */
    record SetData(String path, byte @Nullable [] data, int version) implements Operation {
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
    record SetAcl(String path, Acl acl, int version) implements Operation {
        public SetAcl {
            requireNonNull(path, "path");
            requireNonNull(acl, "acl");
        }
    }

    /** Demands a version of a node's data and changes nothing; only as a part of a {@link Multi}. */
    record Check(String path, int version) implements Operation {
        public Check {
            requireNonNull(path, "path");
        }
    }

    /** All of the parts or none of them; a multi does not hold another. */
    record Multi(List<Operation> parts) implements Operation {
        public Multi {
            parts = List.copyOf(parts);
            for (Operation part : parts) {
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
