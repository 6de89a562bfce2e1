package io.conclave.config;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.SetData;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One transaction that changes several keys. It also writes its own id into the configuration's znode, on condition of
 * its version: so publications follow each other, and one whose reply is lost is found by its id.
 *
 * <p>Which keys have a znode already is read before; if that changes meanwhile, another attempt is due.
 */
final class Publication {
    private final Requests requests;
    private final NodePath log;
    private final NodePath root;
    private final ConfigBatch batch;
    private final byte[] id = UUID.randomUUID().toString().getBytes(StandardCharsets.US_ASCII);

    /**
     * Sends nothing yet.
     *
     * @param log the znode that has the id of the last publication
     * @param root what the names of the keys are below
     */
    Publication(Requests requests, NodePath log, NodePath root, ConfigBatch batch) {
        this.requests = requests;
        this.log = log;
        this.root = root;
        this.batch = batch;
    }

    private NodePath path(String name) {
        return NodePath.of("/" + name).within(root);
    }

    /** True if it was published, false if an expectation does not hold; empty if others were quicker. */
    CompletionStage<Optional<Boolean>> attempt() {
        CompletableFuture<Optional<NodeStat>> logStat = exists(log);
        List<String> names = List.copyOf(batch.entries().keySet());
        List<CompletableFuture<Optional<NodeStat>>> stats =
                names.stream().map(name -> exists(path(name))).toList();
        return CompletableFuture.allOf(stats.toArray(CompletableFuture<?>[]::new))
                .thenCombine(logStat, (done, there) -> there)
                .thenCompose(there -> {
                    Set<String> present = new HashSet<>();
                    for (int i = 0; i < names.size(); i++) {
                        if (stats.get(i).join().isPresent()) {
                            present.add(names.get(i));
                        }
                    }
                    if (!isPossible(present)) {
                        return CompletableFuture.completedFuture(Optional.of(false));
                    }
                    if (there.isEmpty()) {
                        return requests.makeParents(log.child("any")).thenCompose(made -> attempt());
                    }
                    return makeParents(present).thenCompose(made -> send(there.get(), present));
                });
    }

    /** Not if the value of a key is expected that has no znode. */
    private boolean isPossible(Set<String> present) {
        return batch.entries().entrySet().stream()
                .noneMatch(entry -> entry.getValue().expected().isPresent() && !present.contains(entry.getKey()));
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

    /** Of the keys that are to be created; each once, for there may be thousands of keys below it. */
    private CompletionStage<Void> makeParents(Set<String> present) {
        Map<NodePath, NodePath> oneOfEach = new HashMap<>();
        batch.entries().forEach((name, entry) -> {
            if (!present.contains(name) && entry.data().length > 0) {
                NodePath path = path(name);
                oneOfEach.put(path.parent().orElse(NodePath.ROOT), path);
            }
        });
        oneOfEach.remove(log); // it is there
        return CompletableFuture.allOf(oneOfEach.values().stream()
                .map(path -> requests.makeParents(path).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new));
    }

    private CompletionStage<Optional<Boolean>> send(NodeStat before, Set<String> present) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(SetData.of(log, id).withVersion(before.version()));
        batch.entries().forEach((name, entry) -> operation(path(name), entry, present.contains(name))
                .ifPresent(operations::add));
        return requests.submit(
                new Multi(operations),
                done -> CompletableFuture.completedFuture(Optional.of(true)),
                cause -> onFailure(cause, before));
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

    private CompletionStage<Optional<Boolean>> onFailure(Throwable cause, NodeStat before) {
        if (cause instanceof OutcomeUnknownException unknown) {
            return requests.findOut(log, unknown).thenCompose(found -> resolve(found, before, unknown));
        }
        if (Failures.is(cause, RefusalReason.BAD_VERSION) && !isOfLog(cause)) {
            return CompletableFuture.completedFuture(Optional.of(false));
        }
        return Failures.isStale(cause)
                ? CompletableFuture.completedFuture(Optional.empty())
                : CompletableFuture.failedFuture(cause);
    }

    private static boolean isOfLog(Throwable cause) {
        return cause instanceof RefusedException refused
                && refused.operationIndex().orElse(0) == 0;
    }

    private CompletionStage<Optional<Boolean>> resolve(
            Optional<GetData.NodeData> found, NodeStat before, OutcomeUnknownException unknown) {
        requests.session().metrics().count("config.recover", log.toString());
        if (found.filter(node -> node.bytes().contentEquals(id)).isPresent()) {
            return CompletableFuture.completedFuture(Optional.of(true));
        }
        boolean surelyNot = found.map(GetData.NodeData::stat)
                .filter(now -> now.czxid() == before.czxid() && now.version() - before.version() <= 1)
                .isPresent();
        return surelyNot
                ? CompletableFuture.completedFuture(Optional.empty())
                : CompletableFuture.failedFuture(new OutcomeUnknownException(
                        "Publish " + batch + " at " + root + ": the reply was lost, and others have published more than"
                                + " once since; it may have been published and replaced. Read the keys, and publish "
                                + "again if they should not be what they are",
                        unknown));
    }
}
