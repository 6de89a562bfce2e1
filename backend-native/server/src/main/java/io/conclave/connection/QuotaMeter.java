package io.conclave.connection;

import io.conclave.time.TimeSource;
import io.conclave.tree.Change;
import io.conclave.tree.Quota;
import io.conclave.tree.Result;
import io.conclave.tree.TreeError;
import io.conclave.tree.TreeOperation;
import io.conclave.tree.TreeState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the writes of this server's clients that go beyond a quota, and logs one of them now and then. Thread-safe.
 */
public final class QuotaMeter {
    private static final Logger LOG = LoggerFactory.getLogger(QuotaMeter.class);
    private final AtomicLong exceeded = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final LineLimit lines;

    QuotaMeter(TimeSource time) {
        lines = new LineLimit(time, 1);
    }

    /** Writes that were done, and behind which a subtree had more than a limit allows. */
    public long exceeded() {
        return exceeded.get();
    }

    /** Writes that were refused because of a hard limit. */
    public long refused() {
        return refused.get();
    }

    /**
     * A client's change was applied.
     *
     * @param state the one right behind it
     * @param client for the log
     */
    void applied(Change change, Result result, TreeState state, Object client) {
        if (state.featureLevel() < Change.QUOTA_FEATURE_LEVEL || !(change instanceof Change.Request request)) {
            return;
        }
        if (isRefusal(result)) {
            refused.incrementAndGet();
            log("A write of {} was refused, beyond a hard quota: {}", client, pathOf(request.operation()));
            return;
        }
        exceededBy(request.operation(), result, state).ifPresent(quota -> {
            exceeded.incrementAndGet();
            log("A write of {} goes beyond the quota of {}", client, quota);
        });
    }

    private static boolean isRefusal(Result result) {
        return (result instanceof Result.Failed failed && failed.error() == TreeError.QUOTA_EXCEEDED)
                || (result instanceof Result.MultiFailed multi && multi.error() == TreeError.QUOTA_EXCEEDED);
    }

    private static String pathOf(TreeOperation operation) {
        if (operation instanceof TreeOperation.Create create) {
            return create.path();
        }
        return operation instanceof TreeOperation.SetData set ? set.path() : "one of the paths of a multi";
    }

    private static Optional<Quota> exceededBy(TreeOperation operation, Result result, TreeState state) {
        if (operation instanceof TreeOperation.Multi multi && result instanceof Result.MultiDone done) {
            List<TreeOperation> parts = multi.parts();
            for (int part = 0; part < parts.size(); part++) {
                Optional<Quota> quota =
                        exceededBy(parts.get(part), done.results().get(part), state);
                if (quota.isPresent()) {
                    return quota;
                }
            }
            return Optional.empty();
        }
        if (result instanceof Result.Created created) {
            return Quota.of(state, created.path()).filter(Quota::isExceeded);
        }
        return operation instanceof TreeOperation.SetData set && result instanceof Result.DataSet
                ? Quota.of(state, set.path()).filter(Quota::isExceeded)
                : Optional.empty();
    }

    /** Paths may have marks that separate lines, or turn their direction, and are not seen. */
    private void log(String line, Object client, Object quota) {
        if (lines.next().isEmpty()) {
            return;
        }
        LOG.warn(
                line
                        + " ({} writes went beyond a quota so far, and {} were refused; such lines are {} s apart at "
                        + "least)",
                client,
                AuditLine.escaped(quota.toString()),
                exceeded.get(),
                refused.get(),
                LineLimit.INTERVAL.toSeconds());
    }
}
