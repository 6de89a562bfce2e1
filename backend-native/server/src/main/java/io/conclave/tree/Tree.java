package io.conclave.tree;

import java.util.ArrayList;
import java.util.List;

/**
 * The one function that changes the replicated state. It is pure: the same state, change and time give the same
 * result on every member and at every replay.
 */
public final class Tree {
    /** The count of a zxid at which the epoch is raised instead: 65,536 before it would run over into the epoch. */
    static final long ROLL_OVER_COUNT = 0xffff_0000L;

    private static final long COUNT_MASK = 0xffff_ffffL;
    private static final long MAX_EPOCH = Integer.MAX_VALUE;

    private Tree() {}

    /**
     * Applies a change. Never throws for what a client can send: a refused request is a {@link Result.Failed} (or
     * {@link Result.MultiFailed}) and uses up a zxid like any other.
     *
     * @param timeMs the leader's time when it proposed the change; a time before the state's last one counts as that
     */
    public static Applied apply(TreeState state, Change change, long timeMs) {
        long now = Math.max(timeMs, state.lastTimeMs());
        long zxid = change instanceof Change.NewTerm ? firstOfEpoch(state.epoch() + 1) : zxidAfter(state.lastZxid());
        TreeEdit edit = begun(state, change, zxid, now);
        try {
            Result result = step(edit, change);
            if (!(result instanceof Result.MultiFailed)) {
                return new Applied(edit.state(), zxid, result, edit.events());
            }
            return refused(state, change, zxid, now, result);
        } catch (TreeException refusal) {
            return refused(state, change, zxid, now, new Result.Failed(refusal.error()));
        }
    }

    private static Applied refused(TreeState state, Change change, long zxid, long now, Result result) {
        return new Applied(begun(state, change, zxid, now).state(), zxid, result, List.of());
    }

    /** A request that is refused is a heartbeat as well, since it will be answered. */
    private static TreeEdit begun(TreeState state, Change change, long zxid, long now) {
        if (!(change instanceof Change.Request request)) {
            return new TreeEdit(state, zxid, now, List.of());
        }
        TreeEdit edit = new TreeEdit(state, zxid, now, request.authIds());
        edit.heardOf(request.sessionId(), request.attachment());
        edit.enforceQuotas(request.enforcesQuotas());
        return edit;
    }

    private static long zxidAfter(long lastZxid) {
        return (lastZxid & COUNT_MASK) < ROLL_OVER_COUNT ? lastZxid + 1 : firstOfEpoch((lastZxid >>> 32) + 1);
    }

    static long firstOfEpoch(long epoch) {
        if (epoch > MAX_EPOCH) {
            throw new IllegalStateException("the zxid has no room for another epoch after " + MAX_EPOCH);
        }
        return epoch << 32;
    }

    private static Result step(TreeEdit edit, Change change) {
        if (change instanceof Change.Request request) {
            edit.checkAttachment(request.sessionId(), request.attachment());
            return request.operation() instanceof TreeOperation.Multi multi
                    ? multi(edit, multi, request)
                    : step(edit, request.operation(), request);
        }
        if (change instanceof Change.OpenSession open) {
            return edit.openSession(open);
        }
        if (change instanceof Change.ResumeSession resume) {
            return edit.resumeSession(resume);
        }
        if (change instanceof Change.CloseSession close) {
            return edit.closeSession(close);
        }
        if (change instanceof Change.SuspectSession suspect) {
            return edit.suspectSession(suspect);
        }
        if (change instanceof Change.KeepSession keep) {
            return edit.keepSession(keep);
        }
        if (change instanceof Change.ExpireSession expire) {
            return edit.expireSession(expire);
        }
        if (change instanceof Change.Configure configure) {
            return edit.configure(configure.members());
        }
        if (change instanceof Change.DeleteContainer delete) {
            return edit.deleteContainer(delete);
        }
        if (change instanceof Change.RaiseFeatureLevel raise) {
            return edit.raiseFeatureLevel(raise.level());
        }
        if (change instanceof Change.CompareState) {
            return new Result.Compared();
        }
        if (change instanceof Change.NewTerm term) {
            return edit.startTerm(term.term());
        }
        throw new AssertionError("no step for " + change);
    }

    private static Result multi(TreeEdit edit, TreeOperation.Multi multi, Change.Request request) {
        List<TreeOperation> parts = multi.parts();
        List<Result> results = new ArrayList<>(parts.size());
        for (TreeOperation part : parts) {
            try {
                results.add(part instanceof TreeOperation.Check check ? edit.check(check) : step(edit, part, request));
            } catch (TreeException refusal) {
                return new Result.MultiFailed(parts.size(), results.size(), refusal.error());
            }
        }
        return new Result.MultiDone(results);
    }

    private static Result step(TreeEdit edit, TreeOperation operation, Change.Request request) {
        if (operation instanceof TreeOperation.Create create) {
            return edit.create(create, request.sessionId());
        }
        if (operation instanceof TreeOperation.Delete delete) {
            return edit.delete(delete);
        }
        if (operation instanceof TreeOperation.SetData set) {
            return edit.setData(set);
        }
        if (operation instanceof TreeOperation.SetAcl set) {
            return edit.setAcl(set);
        }
        throw TreeException.of(TreeError.BAD_ARGUMENTS); // a check by itself
    }
}
