package io.conclave.connection;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CheckVersionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.CreateRequest;
import io.conclave.protocol.DeleteRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.MultiRequest;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.SetAclRequest;
import io.conclave.protocol.SetDataRequest;
import io.conclave.tree.Acl;
import io.conclave.tree.AclEntry;
import io.conclave.tree.AuthId;
import io.conclave.tree.CreateMode;
import io.conclave.tree.Operation;
import java.util.ArrayList;
import java.util.List;

/** Turns the wire's writes into the tree's. */
final class Operations {
    private Operations() {}

    /**
     * The error of a write that is refused before it is proposed, because the tree has no word for it; 0 if it can be
     * proposed.
     */
    static int refusalOf(RequestBody body) {
        if (!(body instanceof CreateRequest create)) {
            return 0;
        }
        if (CreateFlag.lookup(create.flags()).isEmpty() || ClusterNode.isReserved(create.path())) {
            return ErrorCode.BAD_ARGUMENTS.code();
        }
        // nodes with a time to live are switched off, as they are in ZooKeeper by default
        return modeOf(create).isEmpty() ? ErrorCode.UNIMPLEMENTED.code() : 0;
    }

    private static java.util.Optional<CreateMode> modeOf(CreateRequest create) {
        return CreateMode.ofFlag(create.flags());
    }

    static Operation of(RequestBody body) {
        if (body instanceof CreateRequest create) {
            return new Operation.Create(
                    create.path(),
                    create.data(),
                    acl(create.acl()),
                    modeOf(create).orElseThrow());
        }
        if (body instanceof DeleteRequest delete) {
            return new Operation.Delete(delete.path(), delete.version());
        }
        if (body instanceof SetDataRequest set) {
            return new Operation.SetData(set.path(), set.data(), set.version());
        }
        if (body instanceof SetAclRequest set) {
            return new Operation.SetAcl(set.path(), acl(set.acl()), set.version());
        }
        if (body instanceof CheckVersionRequest check) {
            return new Operation.Check(check.path(), check.version());
        }
        if (body instanceof MultiRequest multi) {
            return new Operation.Multi(
                    multi.operations().stream().map(Operations::of).toList());
        }
        throw new IllegalArgumentException(body.opCode() + " is not a write");
    }

    private static Acl acl(List<AclRecord> records) {
        if (records.equals(AclRecord.OPEN)) {
            return Acl.OPEN;
        }
        List<AclEntry> entries = new ArrayList<>(records.size());
        for (AclRecord entry : records) {
            entries.add(new AclEntry(entry.perms(), new AuthId(entry.scheme(), entry.id())));
        }
        return new Acl(entries);
    }
}
