package io.conclave.request;

import io.conclave.node.Acl;
import io.conclave.node.Bytes;
import io.conclave.node.CreateMode;
import io.conclave.node.HasData;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Creates a znode. Refused with NO_NODE without a parent, NODE_EXISTS if it is there, NO_CHILDREN_FOR_EPHEMERALS,
 * NO_AUTH, INVALID_ACL; one with a time to live with UNSUPPORTED by a server that does not offer it, see
 * {@code Capability.TTL}.
 *
 * @param path the path; of a sequential znode without its number, which is the number of children that were created
 *     under the parent before, in ten digits
 * @param bytes the data
 * @param mode how long the znode lives and whether it is numbered
 * @param acl its ACL, or empty for the coordinator's default
 * @param ttl the time to live of a mode that has one, else empty: more than 0, at most {@link #MAX_TTL}, rounded up to
 *     milliseconds. The server deletes the znode at a check (every minute by default) when it has no children and its
 *     data were not set for longer, by the leader's clock
 */
public record Create(NodePath path, Bytes bytes, CreateMode mode, Optional<Acl> acl, Optional<Duration> ttl)
        implements Operation<Create.Created>, HasData {
    /** The longest time to live, 2^40 - 1 ms: some 34 years. */
    public static final Duration MAX_TTL = Duration.ofMillis((1L << 40) - 1);

    /**
     * Rejects nulls.
     *
     * @throws IllegalArgumentException if the time to live is missing, out of its bounds, or not for this mode
     */
    public Create {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(bytes, "bytes");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(acl, "acl");
        if (mode.hasTtl() && ttl.isEmpty()) {
            throw new IllegalArgumentException("create " + path + ": the mode " + mode
                    + " needs a time to live; use withTtl, which chooses the mode too");
        }
        if (!mode.hasTtl() && ttl.isPresent()) {
            throw new IllegalArgumentException(
                    "create " + path + ": the mode " + mode + " cannot have a time to live (" + ttl.get() + ")");
        }
        ttl.ifPresent(time -> requireWithinBounds(path, time));
    }

    private static void requireWithinBounds(NodePath path, Duration ttl) {
        if (ttl.isZero() || ttl.isNegative() || ttl.compareTo(MAX_TTL) > 0) {
            throw new IllegalArgumentException("create " + path + ": the time to live " + ttl
                    + " must be more than 0 and at most " + MAX_TTL.toMillis() + " ms");
        }
    }

    /** Without a time to live. */
    public Create(NodePath path, Bytes bytes, CreateMode mode, Optional<Acl> acl) {
        this(path, bytes, mode, acl, Optional.empty());
    }

    /** With a copy of this data, and without a time to live. */
    public Create(NodePath path, byte[] data, CreateMode mode, Optional<Acl> acl) {
        this(path, Bytes.copyOf(data), mode, acl);
    }

    /**
     * What was created.
     *
     * @param path the path with its sequence number, if it has one
     * @param stat the znode's stat right after its creation
     */
    public record Created(NodePath path, NodeStat stat) {}

    /** A persistent znode without data and with the default ACL. */
    public static Create of(NodePath path) {
        return new Create(path, Bytes.empty(), CreateMode.PERSISTENT, Optional.empty());
    }

    /**
     * As {@link #of(NodePath)}.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static Create of(String path) {
        return of(NodePath.of(path));
    }

    /** With a copy of this data. */
    public Create withData(byte[] newData) {
        return new Create(path, Bytes.copyOf(newData), mode, acl, ttl);
    }

    /**
     * With this mode.
     *
     * @throws IllegalArgumentException if the mode needs a time to live and there is none, or the other way round
     */
    public Create withMode(CreateMode newMode) {
        return new Create(path, bytes, newMode, acl, ttl);
    }

    /**
     * A persistent or persistent sequential znode, with this time to live.
     *
     * @throws IllegalArgumentException if the mode is another one, or the time is out of its bounds
     */
    public Create withTtl(Duration newTtl) {
        CreateMode newMode =
                switch (mode) {
                    case PERSISTENT -> CreateMode.PERSISTENT_WITH_TTL;
                    case PERSISTENT_SEQUENTIAL -> CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL;
                    default -> mode;
                };
        return new Create(path, bytes, newMode, acl, Optional.of(newTtl));
    }

    /** The time to live in milliseconds, rounded up; 0 for none. */
    public long ttlMs() {
        return ttl.map(time -> time.plusNanos(999_999).toMillis()).orElse(0L);
    }

    /** With this ACL. */
    public Create withAcl(Acl newAcl) {
        return new Create(path, bytes, mode, Optional.of(newAcl), ttl);
    }

    @Override
    public Create within(NodePath namespace) {
        return new Create(path.within(namespace), bytes, mode, acl, ttl);
    }

    @Override
    public String describe() {
        return "create " + path + " " + mode;
    }
}
