package io.conclave.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates a node.
 *
 * @param opCode {@link OpCode#CREATE} (answered by a {@link CreateReply}), {@link OpCode#CREATE2},
 *     {@link OpCode#CREATE_CONTAINER} or {@link OpCode#CREATE_TTL} (answered by a {@link Create2Reply})
 * @param path the path, without the number that the server appends
 * @param data the node's data
 * @param acl the node's ACL
 * @param flags a {@link CreateFlag}, known or not
 * @param ttlMs the time to live; on the wire with CREATE_TTL only, else 0
 */
public record CreateRequest(
        OpCode opCode, String path, byte @Nullable [] data, List<AclRecord> acl, int flags, long ttlMs)
        implements RequestBody {

    /** Checks that the operation is one of the four and that only one of them has a time to live. */
    public CreateRequest {
        switch (opCode) {
            case CREATE, CREATE2, CREATE_CONTAINER -> {
                if (ttlMs != 0) {
                    throw new IllegalArgumentException(opCode + " cannot carry a time to live: " + ttlMs + " ms");
                }
            }
            case CREATE_TTL -> {}
            default -> throw new IllegalArgumentException(opCode + " does not create a node");
        }
    }

    /** Creates a node without a time to live. */
    public CreateRequest(OpCode opCode, String path, byte @Nullable [] data, List<AclRecord> acl, CreateFlag flag) {
        this(opCode, path, data, acl, flag.code(), 0);
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeString(path);
        out.writeBuffer(data);
        out.writeVector(acl);
        out.writeInt(flags);
        if (opCode == OpCode.CREATE_TTL) {
            out.writeLong(ttlMs);
        }
    }

    static CreateRequest decode(OpCode opCode, JuteReader in) {
        return new CreateRequest(
                opCode,
                in.readString("path"),
                in.readBuffer("data"),
                AclRecord.decodeList(in),
                in.readInt("flags"),
                opCode == OpCode.CREATE_TTL ? in.readLong("ttl") : 0);
    }
}
