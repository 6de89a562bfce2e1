package io.conclave.config;

import io.conclave.coordinator.Refusals;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.spi.Check;
import io.conclave.spi.Create;
import io.conclave.spi.Exists;
import io.conclave.spi.GetData;
import io.conclave.spi.Multi;
import io.conclave.spi.Operation;
import io.conclave.spi.SetData;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One transaction that changes several keys. It also writes its own id into the configuration's root, on condition of the root's version: so publications follow each other, and one whose reply is lost is found by its id.
 *
 * <p>Which keys have a znode already is read before; if that changes meanwhile, it begins again.
 */
final class Publication {
    private static final int MOST_ATTEMPTS = 100;

    private final Requests requests;
    private final NodePath root;
    private final ConfigBatch batch;
    private final byte[] id = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);

    Publication(Requests requests, NodePath root, ConfigBatch batch) {
        this.requests = requests;
        this.root = root;
        this.batch = batch;
    }

    private NodePath path(String name) {
        return NodePath.of("/" + name).within(root);
    }

    /** True if it was published; false if an expectation does not hold. */
    CompletionStage<Boolean> publish(int attempt) {
        if (attempt > MOST_ATTEMPTS) {
            return CompletableFuture.failedFuture(new RefusedException(
                    RefusalReason.OTHER, "publish " + batch + ": others were quicker " + MOST_ATTEMPTS + " times"));
        }
        CompletableFuture<Optional<NodeStat>> rootStat = exists(root);
        List<String> names = List.copyOf(batch.entries().keySet());
        List<CompletableFuture<Optional<NodeStat>>> stats =
                names.stream().map(name -> exists(path(name))).toList();
        return CompletableFuture.allOf(stats.toArray(CompletableFuture<?>[]::new))
                .thenCombine(rootStat, (done, there) -> there)
                .thenCompose(there -> {
                    List<NodePath> missing = new ArrayList<>();
                    for (int i = 0; i < names.size(); i++) {
                        if (stats.get(i).join().isEmpty()) {
                            missing.add(path(names.get(i)));
                        }
                    }
                    if (there.isEmpty()) {
                        return requests.makeParents(root.child("any")).thenCompose(made -> publish(attempt + 1));
                    }
                    return makeParents(missing, 0)
                            .thenCompose(made -> send(there.get().version(), names, stats, attempt));
                });
    }

    private CompletableFuture<Optional<NodeStat>> exists(NodePath path) {
        return requests.submit(
                        Exists.of(path),
                        CompletableFuture::completedFuture,
                        cause -> cause instanceof OutcomeUnknownException
                                ? exists(path)
                                : CompletableFuture.failedFuture(cause))
                .toCompletableFuture();
    }

    private CompletionStage<Void> makeParents(List<NodePath> paths, int from) {
        if (from == paths.size()) {
            return CompletableFuture.completedFuture(null);
        }
        NodePath parent = paths.get(from).parent().orElse(NodePath.ROOT);
        CompletionStage<Void> made =
                parent.equals(root) ? CompletableFuture.completedFuture(null) : requests.makeParents(paths.get(from));
        return made.thenCompose(done -> makeParents(paths, from + 1));
    }

    private CompletionStage<Boolean> send(
            int rootVersion, List<String> names, List<CompletableFuture<Optional<NodeStat>>> stats, int attempt) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(SetData.of(root, id).withVersion(rootVersion));
        for (int i = 0; i < names.size(); i++) {
            ConfigBatch.Entry entry = batch.entries().get(names.get(i));
            boolean isThere = stats.get(i).join().isPresent();
            if (entry != null) {
                if (!isThere && entry.expected().isPresent()) {
                    return CompletableFuture.completedFuture(false);
                }
                operation(path(names.get(i)), entry, isThere).ifPresent(operations::add);
            }
        }
        return requests.submit(
                new Multi(operations),
                done -> CompletableFuture.completedFuture(true),
                cause -> onFailure(cause, rootVersion, attempt));
    }

    private static Optional<Operation<?>> operation(NodePath path, ConfigBatch.Entry entry, boolean isThere) {
        int version = entry.expected().orElse(-1);
        if (!entry.changes()) {
            return Optional.of(new Check(path, version));
        }
        if (isThere) {
            return Optional.of(SetData.of(path, entry.data()).withVersion(version));
        }
        return entry.data().length == 0
                ? Optional.empty() // there is nothing to take away
                : Optional.of(Create.of(path).withData(entry.data()));
    }

    private CompletionStage<Boolean> onFailure(Throwable cause, int rootVersion, int attempt) {
        if (cause instanceof OutcomeUnknownException unknown) {
            return requests.readLatest(root).thenCompose(found -> resolve(found, rootVersion, attempt, unknown));
        }
        if (Refusals.is(cause, RefusalReason.BAD_VERSION) && !isOfRoot(cause)) {
            return CompletableFuture.completedFuture(false);
        }
        return Refusals.isStale(cause) ? again(attempt) : CompletableFuture.failedFuture(cause);
    }

    private static boolean isOfRoot(Throwable cause) {
        return cause instanceof RefusedException refused
                && refused.operationIndex().orElse(0) == 0;
    }

    private CompletionStage<Boolean> again(int attempt) {
        return requests.later(Backoff.after(attempt), () -> publish(attempt + 1));
    }

    private CompletionStage<Boolean> resolve(
            Optional<GetData.NodeData> found, int rootVersion, int attempt, OutcomeUnknownException unknown) {
        requests.session().metrics().count("config.recover", root.toString());
        if (found.isPresent() && Arrays.equals(found.get().data(), id)) {
            return CompletableFuture.completedFuture(true);
        }
        int publications =
                found.map(node -> node.stat().version() - rootVersion).orElse(-1);
        boolean surelyNot = publications == 0 || publications == 1;
        // As often as we like it may be published, but for a condition that our own publication would break.
        return surelyNot || !batch.isConditional() ? again(attempt) : CompletableFuture.failedFuture(unknown);
    }
}
