package io.conclave.config;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One write of a znode on condition of what is there. If its reply is lost, what is there afterwards is read: the write
 * took effect before that, or never will. So either it is known what became of it, or it is said that it is not.
 */
final class ConditionalWrite {
    /** How many writes count for a znode that is not the one that was to be written: none can be told from another. */
    private static final int UNCOUNTED = Integer.MAX_VALUE;

    private final Requests requests;
    private final NodePath path;
    private final byte[] data;
    private final Expected expected;
    private final Proof proof;

    /**
     * What must be there.
     *
     * @param version of the znode's data
     * @param zxid the change that has set it: a znode that was made later is another one, which may have the version
     */
    record Expected(int version, long zxid) {
        /** No znode: it is to be made by this write. */
        static final Expected NOTHING = new Expected(-1, Long.MAX_VALUE);

        /** What was found. */
        static Expected of(Optional<GetData.NodeData> found) {
            return found.map(node ->
                            new Expected(node.stat().version(), node.stat().mzxid()))
                    .orElse(NOTHING);
        }

        private boolean isNothing() {
            return version == NOTHING.version;
        }
    }

    /** Tells from what is there after a lost reply whether the write took effect. */
    interface Proof {
        /** What such a look tells. */
        enum Verdict {
            /** It took effect. */
            WRITTEN,
            /** It did not, and cannot any more: something else was written instead. */
            REFUSED,
            /** It is not known. */
            UNKNOWN
        }

        /**
         * The verdict.
         *
         * @param node what is there; not the version that the write was conditional on, unless in another znode
         * @param writes how many writes there were since then; very many if another client has deleted the znode and
         *     made it again
         */
        Verdict judge(GetData.NodeData node, int writes);
    }

    ConditionalWrite(Requests requests, NodePath path, byte[] data, Expected expected, Proof proof) {
        this.requests = requests;
        this.path = path;
        this.data = data;
        this.expected = expected;
        this.proof = proof;
    }

    /**
     * Writes. Empty if something else is there; fails with {@link OutcomeUnknownException} if it is not known.
     */
    CompletionStage<Optional<NodeStat>> send() {
        return expected.isNothing() ? create() : set();
    }

    private CompletionStage<Optional<NodeStat>> create() {
        return requests.submit(
                Create.of(path).withData(data),
                created -> CompletableFuture.completedFuture(Optional.of(created.stat())),
                cause -> {
                    if (Failures.isNoNode(cause)) {
                        return requests.makeParents(path).thenCompose(done -> create());
                    }
                    return onFailure(cause);
                });
    }

    private CompletionStage<Optional<NodeStat>> set() {
        return requests.submit(
                SetData.of(path, data).withVersion(expected.version()),
                stat -> CompletableFuture.completedFuture(Optional.of(stat)),
                this::onFailure);
    }

    private CompletionStage<Optional<NodeStat>> onFailure(Throwable cause) {
        if (cause instanceof OutcomeUnknownException unknown) {
            return requests.findOut(path, unknown).thenCompose(node -> resolve(node, unknown));
        }
        boolean other = Failures.is(cause, RefusalReason.BAD_VERSION)
                || Failures.is(cause, RefusalReason.NODE_EXISTS)
                || Failures.isNoNode(cause);
        return other ? CompletableFuture.completedFuture(Optional.empty()) : CompletableFuture.failedFuture(cause);
    }

    private CompletionStage<Optional<NodeStat>> resolve(
            Optional<GetData.NodeData> found, OutcomeUnknownException unknown) {
        requests.session().metrics().count("config.recover", path.toString());
        if (found.isEmpty()) {
            return expected.isNothing() ? send() : CompletableFuture.failedFuture(unknown);
        }
        GetData.NodeData node = found.get();
        boolean isSame = node.stat().czxid() <= expected.zxid();
        int writes = isSame ? node.stat().version() - expected.version() : UNCOUNTED;
        if (writes == 0) {
            return send(); // it never took effect, and never will
        }
        if (writes < 0) {
            return CompletableFuture.failedFuture(unknown); // the store was set back
        }
        return switch (proof.judge(node, writes)) {
            case WRITTEN -> CompletableFuture.completedFuture(Optional.of(node.stat()));
            case REFUSED -> CompletableFuture.completedFuture(Optional.empty());
            case UNKNOWN -> CompletableFuture.failedFuture(unknown);
        };
    }
}
