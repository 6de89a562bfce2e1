package io.conclave.spi;

import io.conclave.node.Acl;
import io.conclave.node.Bytes;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.Objects;
import java.util.Optional;

/**
 * Creates a znode. Refused with NO_NODE without a parent, NODE_EXISTS if it is there, NO_CHILDREN_FOR_EPHEMERALS, NO_AUTH,
 * INVALID_ACL.
 *
 * @param path the path; of a sequential znode without its number, which is the number of children that were created under
 *     the parent before, in ten digits
 * @param bytes the data
 * @param mode how long the znode lives and whether it is numbered
 * @param acl its ACL, or empty for the coordinator's default
 */
public record Create(NodePath path, Bytes bytes, CreateMode mode, Optional<Acl> acl)
        implements Operation<Create.Created> {
    /** Rejects nulls. */
    public Create {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(bytes, "bytes");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(acl, "acl");
    }

    /** With a copy of this data. */
    public Create(NodePath path, byte[] data, CreateMode mode, Optional<Acl> acl) {
        this(path, Bytes.copyOf(data), mode, acl);
    }

    /** The data: a copy with each call. */
    public byte[] data() {
        return bytes.toArray();
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

    /** With a copy of this data. */
    public Create withData(byte[] newData) {
        return new Create(path, Bytes.copyOf(newData), mode, acl);
    }

    /** With this mode. */
    public Create withMode(CreateMode newMode) {
        return new Create(path, bytes, newMode, acl);
    }

    /** With this ACL. */
    public Create withAcl(Acl newAcl) {
        return new Create(path, bytes, mode, Optional.of(newAcl));
    }

    @Override
    public Create within(NodePath namespace) {
        return new Create(path.within(namespace), bytes, mode, acl);
    }

    @Override
    public String describe() {
        return "create " + path + " " + mode;
    }
}
