package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * Makes a {@link Multi} fail unless the znode is there and has the expected data version; only used inside one.
 *
 * @param path the znode
 * @param version the expected data version; -1 for any
 */
public record Check(NodePath path, int version) implements Operation<Done> {
    /** Rejects nulls. */
    public Check {
        Objects.requireNonNull(path, "path");
    }

    /** Only that the znode is there. */
    public static Check exists(NodePath path) {
        return new Check(path, -1);
    }

    /**
     * As {@link #exists(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Check exists(String path) {
        return exists(NodePath.of(path));
    }

    @Override
    public Check within(NodePath namespace) {
        return new Check(path.within(namespace), version);
    }

    @Override
    public String describe() {
        return "check " + path + (version < 0 ? "" : " version " + version);
    }
}
