package io.conclave.config;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

/**
 * One write of a znode on condition of what is there. If its reply is lost, what is there afterwards is read: the write
 * took effect before that, or never will. So either it is known what became of it, or it is said that it is not.
 */
final class ConditionalWrite {
    /** How many writes count for a znode that is not the one that was to be written: none can be told from another. */
    private static final int UNCOUNTED = Integer.MAX_VALUE;

    private final Requests requests;
    private final NodePath path;
    private final NodePath parent;
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
        static final Expected NOTHING = new Expected(-1, -1);

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
        this.parent = path.parent().orElse(NodePath.ROOT);
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

    /** The parent is read first: a znode that is not there after a lost reply was never made, or made and deleted. */
    private CompletionStage<Optional<NodeStat>> create() {
        return requests.submit(
                Exists.of(parent),
                found -> found.isPresent()
                        ? create(found)
                        : requests.makeParents(path).thenCompose(made -> create()),
                cause -> {
                    if (Failures.is(cause, RefusalReason.NO_AUTH)) {
                        return create(Optional.empty()); // it may be made without being read
                    }
                    return cause instanceof OutcomeUnknownException ? create() : CompletableFuture.failedFuture(cause);
                });
    }

    private CompletionStage<Optional<NodeStat>> create(Optional<NodeStat> parentBefore) {
        return requests.submit(
                Create.of(path).withData(data),
                created -> CompletableFuture.completedFuture(Optional.of(created.stat())),
                cause -> Failures.isNoNode(cause)
                        ? create()
                        : onFailure(cause, (found, unknown) -> lookBeside(parentBefore, found, unknown)));
    }

    /**
     * If nothing has come or gone among the parent's children, it had no effect. If nothing but the znode that is
     * there, that is the first one, and not one that another client has made after ours was deleted.
     */
    private CompletionStage<Optional<NodeStat>> lookBeside(
            Optional<NodeStat> parentBefore, Optional<GetData.NodeData> found, OutcomeUnknownException unknown) {
        return requests.submit(
                Exists.of(parent),
                now -> {
                    int changes = changes(parentBefore, now);
                    if (changes == 0) { // it never took effect, and never will
                        return found.isEmpty() ? create(now) : CompletableFuture.completedFuture(Optional.empty());
                    }
                    if (found.isEmpty()) {
                        return CompletableFuture.failedFuture(unknown);
                    }
                    NodeStat stat = found.get().stat();
                    boolean isFirst = changes == 1 && now.orElseThrow().pzxid() == stat.czxid();
                    return judge(found.get(), isFirst ? stat.version() + 1 : UNCOUNTED, unknown);
                },
                cause -> requests.lookAgain(unknown, cause, () -> lookBeside(parentBefore, found, unknown)));
    }

    /** How many children came or went; {@link #UNCOUNTED} if that is not known. */
    private static int changes(Optional<NodeStat> before, Optional<NodeStat> now) {
        boolean isSame = before.isPresent() && before.map(NodeStat::czxid).equals(now.map(NodeStat::czxid));
        return isSame ? now.orElseThrow().cversion() - before.orElseThrow().cversion() : UNCOUNTED;
    }

    private CompletionStage<Optional<NodeStat>> set() {
        return requests.submit(
                SetData.of(path, data).withVersion(expected.version()),
                stat -> CompletableFuture.completedFuture(Optional.of(stat)),
                cause -> onFailure(cause, this::onSetInDoubt));
    }

    private CompletionStage<Optional<NodeStat>> onSetInDoubt(
            Optional<GetData.NodeData> found, OutcomeUnknownException unknown) {
        if (found.isEmpty()) {
            return CompletableFuture.failedFuture(unknown);
        }
        NodeStat stat = found.get().stat();
        int writes = stat.czxid() <= expected.zxid() ? stat.version() - expected.version() : UNCOUNTED;
        if (writes == 0) {
            return set(); // it never took effect, and never will
        }
        return writes < 0
                ? CompletableFuture.failedFuture(unknown) // the store was set back
                : judge(found.get(), writes, unknown);
    }

    private CompletionStage<Optional<NodeStat>> onFailure(
            Throwable cause,
            BiFunction<Optional<GetData.NodeData>, OutcomeUnknownException, CompletionStage<Optional<NodeStat>>>
                    inDoubt) {
        if (cause instanceof OutcomeUnknownException unknown) {
            requests.session().metrics().count("config.recover", path.toString());
            return requests.findOut(path, unknown).thenCompose(found -> inDoubt.apply(found, unknown));
        }
        return Failures.isStale(cause)
                ? CompletableFuture.completedFuture(Optional.empty())
                : CompletableFuture.failedFuture(cause);
    }

    private CompletionStage<Optional<NodeStat>> judge(
            GetData.NodeData node, int writes, OutcomeUnknownException unknown) {
        return switch (proof.judge(node, writes)) {
            case WRITTEN -> CompletableFuture.completedFuture(Optional.of(node.stat()));
            case REFUSED -> CompletableFuture.completedFuture(Optional.empty());
            case UNKNOWN -> CompletableFuture.failedFuture(unknown);
        };
    }
}
