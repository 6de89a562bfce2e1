package io.conclave.connection;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Turns the wire's writes into the tree's. */
final class Operations {
    private Operations() {}

    /** Whether a client that is served reads only may ask for it. */
    static boolean isForReadOnly(OpCode opCode) {
        return switch (opCode) {
            case SYNC, CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, SET_ACL, MULTI, RECONFIG ->
                false;
            default -> true;
        };
    }

    /**
     * The error of a write that is refused before it is proposed, because the tree has no word for it; 0 if it can be
     * proposed.
     *
     * @param offersTtl whether nodes with a time to live may be created
     */
    static int refusalOf(RequestBody body, BooleanSupplier offersTtl) {
        if (!(body instanceof RequestBody.Create create)) {
            return 0;
        }
        Optional<ZnodeKind> mode = ZnodeKind.ofFlag(create.flags());
        if (mode.isEmpty() || ClusterNode.isReserved(create.path())) {
            return ErrorCode.BAD_ARGUMENTS.code();
        }
        if (mode.get().hasTtl()) {
            return refusalOfTtl(create.ttlMs(), offersTtl);
        }
        boolean hasNeedlessTtl = create.opCode() == OpCode.CREATE_TTL && create.ttlMs() >= 0;
        boolean isNumberedContainer =
                create.opCode() == OpCode.CREATE_CONTAINER && mode.get().isSequential();
        return hasNeedlessTtl || isNumberedContainer ? ErrorCode.BAD_ARGUMENTS.code() : 0;
    }

    private static int refusalOfTtl(long ttlMs, BooleanSupplier offersTtl) {
        if (!offersTtl.getAsBoolean()) {
            return ErrorCode.UNIMPLEMENTED.code();
        }
        return TreeOperation.isTtl(ttlMs) ? 0 : ErrorCode.BAD_ARGUMENTS.code();
    }

    /** As in ZooKeeper, the flag makes a container in a multi; elsewhere only the operation for it does. */
    static TreeOperation of(RequestBody body) {
        if (body instanceof RequestBody.Multi multi) {
            return new TreeOperation.Multi(
                    multi.operations().stream().map(Operations::part).toList());
        }
        if (body instanceof RequestBody.Create create
                && (create.opCode() == OpCode.CREATE || create.opCode() == OpCode.CREATE2)
                && create.flags() == ZnodeKind.CONTAINER.flag()) {
            return create(create, ZnodeKind.PERSISTENT);
        }
        return part(body);
    }

    private static TreeOperation part(RequestBody body) {
        if (body instanceof RequestBody.Create create) {
            return create(create, ZnodeKind.ofFlag(create.flags()).orElseThrow());
        }
        if (body instanceof RequestBody.Delete delete) {
            return new TreeOperation.Delete(delete.path(), delete.version());
        }
        if (body instanceof RequestBody.SetData set) {
            return new TreeOperation.SetData(set.path(), set.data(), set.version());
        }
        if (body instanceof RequestBody.SetAcl set) {
            return new TreeOperation.SetAcl(set.path(), acl(set.acl()), set.version());
        }
        if (body instanceof RequestBody.CheckVersion check) {
            return new TreeOperation.Check(check.path(), check.version());
        }
        throw new IllegalArgumentException(body.opCode() + " is not a write");
    }

    private static TreeOperation.Create create(RequestBody.Create create, ZnodeKind mode) {
        long ttlMs = mode.hasTtl() ? create.ttlMs() : 0;
        return new TreeOperation.Create(create.path(), create.data(), acl(create.acl()), mode, ttlMs);
    }

    private static ZnodeAcl acl(List<AclRecord> records) {
        if (records.equals(AclRecord.OPEN)) {
            return ZnodeAcl.OPEN;
        }
        List<AclEntry> entries = new ArrayList<>(records.size());
        for (AclRecord entry : records) {
            entries.add(new AclEntry(entry.perms(), new AuthId(entry.scheme(), entry.id())));
        }
        return new ZnodeAcl(entries);
    }
}
