package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * Deletes a znode without children. Refused with NO_NODE, BAD_VERSION, NOT_EMPTY, NO_AUTH.
 *
 * @param path the znode
 * @param version the expected data version; -1 for any
 */
public record Delete(NodePath path, int version) implements Operation<Done> {
    /** Rejects nulls. */
    public Delete {
        Objects.requireNonNull(path, "path");
    }

    /** Deletes any version. */
    public static Delete of(NodePath path) {
        return new Delete(path, -1);
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Delete of(String path) {
        return of(NodePath.of(path));
    }

    /** Only if the data has this version. */
    public Delete withVersion(int expected) {
        return new Delete(path, expected);
    }

    @Override
    public Delete within(NodePath namespace) {
        return new Delete(path.within(namespace), version);
    }

    @Override
    public String describe() {
        return "delete " + path + (version < 0 ? "" : " version " + version);
    }
}
