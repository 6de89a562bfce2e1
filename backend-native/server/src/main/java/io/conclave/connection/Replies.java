package io.conclave.connection;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import io.conclave.protocol.StatRecord;
import io.conclave.tree.AclEntry;
import io.conclave.tree.Result;
import io.conclave.tree.ZnodeAcl;
import io.conclave.tree.ZnodeStat;
import java.util.ArrayList;
import java.util.List;

/** Turns the tree's answers into the wire's. */
final class Replies {
    private Replies() {}

    /** The body of the reply to a write that was not refused as a whole. */
    static ReplyBody of(RequestBody request, Result result) {
        if (result instanceof Result.Created created) {
            return request.opCode() == OpCode.CREATE
                    ? new ReplyBody.Create(created.path())
                    : new ReplyBody.Create2(created.path(), stat(created.stat()));
        }
        if (result instanceof Result.DataSet set) {
            return new ReplyBody.Stat(stat(set.stat()));
        }
        if (result instanceof Result.AclSet set) {
            return new ReplyBody.Stat(stat(set.stat()));
        }
        if (result instanceof Result.MultiDone done) {
            return multiDone((RequestBody.Multi) request, done);
        }
        if (result instanceof Result.MultiFailed failed) {
            return multiFailed(
                    failed.parts(), failed.failedPart(), failed.error().code());
        }
        return ReplyBody.Empty.INSTANCE;
    }

    private static ReplyBody.Multi multiDone(RequestBody.Multi request, Result.MultiDone done) {
        List<ReplyBody.MultiResult> results = new ArrayList<>(done.results().size());
        for (int part = 0; part < done.results().size(); part++) {
            RequestBody asked = request.operations().get(part);
            results.add(ReplyBody.MultiResult.succeeded(
                    asked.opCode(), of(asked, done.results().get(part))));
        }
        return new ReplyBody.Multi(results);
    }

    /** The results of a multi that failed at a part: 0 before it, the error at it, -2 behind it. */
    static ReplyBody.Multi multiFailed(int parts, int failedPart, int errorCode) {
        List<ReplyBody.MultiResult> results = new ArrayList<>(parts);
        for (int part = 0; part < parts; part++) {
            int code = part < failedPart ? ErrorCode.OK.code() : ErrorCode.RUNTIME_INCONSISTENCY.code();
            results.add(ReplyBody.MultiResult.failed(part == failedPart ? errorCode : code));
        }
        return new ReplyBody.Multi(results);
    }

    static StatRecord stat(ZnodeStat stat) {
        return new StatRecord(
                stat.czxid(),
                stat.mzxid(),
                stat.ctime(),
                stat.mtime(),
                stat.version(),
                stat.cversion(),
                stat.aversion(),
                stat.ephemeralOwner(),
                stat.dataLength(),
                stat.numChildren(),
                stat.pzxid());
    }

    static List<AclRecord> acl(ZnodeAcl acl) {
        List<AclRecord> records = new ArrayList<>(acl.entries().size());
        for (AclEntry entry : acl.entries()) {
            records.add(new AclRecord(
                    entry.permissions(), entry.id().scheme(), entry.id().id()));
        }
        return records;
    }
}
