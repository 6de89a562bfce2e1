package io.conclave.request;

import io.conclave.node.NodePath;
import java.util.Objects;

/**
 * Brings the session up to date: a read sent behind it sees every write that was acknowledged to anybody before it was
 * issued.
 *
 * @param path the part of the tree that matters; backends bring more up to date if that is as cheap
 */
public record Sync(NodePath path) implements Request<Done> {
    /** Rejects nulls. */
    public Sync {
        Objects.requireNonNull(path, "path");
    }

    /** Brings the session up to date on this path. */
    public static Sync of(NodePath path) {
        return new Sync(path);
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Sync of(String path) {
        return of(NodePath.of(path));
    }

    @Override
    public Sync within(NodePath namespace) {
        return new Sync(path.within(namespace));
    }

    @Override
    public boolean isRead() {
        return true;
    }

    @Override
    public String describe() {
        return "sync " + path;
    }
}
