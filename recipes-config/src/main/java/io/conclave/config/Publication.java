package io.conclave.config;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.recipe.Failures;
import io.conclave.recipe.Waiting;
import io.conclave.request.Check;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
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
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One transaction that changes several keys. It also writes its own id into the configuration's znode, on condition of
 * its version: so publications follow each other, and one whose reply is lost is found by its id.
 *
 * <p>Which keys have a znode already is read before; if that changes meanwhile, or the server that was asked lags,
 * another attempt is due. There is no operation that checks that a znode is not there. So a key that is to be removed
 * and has none is made and deleted at once, which is refused where there is one; or what is missing above it is.
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

    /** True if it was published, false if an expectation does not hold; empty if another attempt is due. */
    CompletionStage<Optional<Boolean>> attempt() {
        CompletableFuture<Optional<NodeStat>> logStat = exists(log);
        List<String> names = List.copyOf(batch.entries().keySet());
        return Waiting.all(names.stream().map(name -> exists(path(name))))
                .thenCombine(logStat, (stats, there) -> {
                    Set<String> present = new HashSet<>();
                    for (int i = 0; i < names.size(); i++) {
                        if (stats.get(i).isPresent()) {
                            present.add(names.get(i));
                        }
                    }
                    return attempt(there, present);
                })
                .thenCompose(Function.identity());
    }

    private CompletionStage<Optional<Boolean>> attempt(Optional<NodeStat> logStat, Set<String> present) {
        List<NodePath> missed = batch.entries().entrySet().stream()
                .filter(entry -> entry.getValue().expected().isPresent() && !present.contains(entry.getKey()))
                .map(entry -> path(entry.getKey()))
                .toList();
        if (!missed.isEmpty()) {
            return lookAgain(missed);
        }
        if (logStat.isEmpty()) {
            return requests.makeParents(log.child("any")).thenCompose(made -> attempt());
        }
        return makeParents(present)
                .thenCompose(made -> findAbsent(present))
                .thenCompose(absent -> send(logStat.get(), present, absent));
    }

    /** The value of a key is expected that has no znode; unless the server that has said so lags. */
    private CompletionStage<Optional<Boolean>> lookAgain(List<NodePath> missed) {
        return Waiting.all(missed.stream().map(key -> exists(Exists.of(key).linearizable())))
                .thenApply(
                        stats -> stats.stream().allMatch(Optional::isPresent) ? Optional.empty() : Optional.of(false));
    }

    private CompletableFuture<Optional<NodeStat>> exists(NodePath path) {
        return exists(Exists.of(path));
    }

    private CompletableFuture<Optional<NodeStat>> exists(Request<Optional<NodeStat>> read) {
        return requests.sendAgainIfLost(read).toCompletableFuture();
    }

    /** Of the keys that are to be created; each once, for there may be thousands of keys below it. */
    private CompletionStage<?> makeParents(Set<String> present) {
        Map<NodePath, NodePath> oneOfEach = new HashMap<>();
        batch.entries().forEach((name, entry) -> {
            if (!present.contains(name) && entry.data().length > 0) {
                NodePath path = path(name);
                oneOfEach.put(path.parent().orElse(NodePath.ROOT), path);
            }
        });
        oneOfEach.remove(log); // it is there
        return Waiting.all(oneOfEach.values().stream().map(requests::makeParents));
    }

    /**
     * What must not be there if the keys that are to be removed have no znode: the keys themselves, or the topmost of
     * what is missing above them. Read parent by parent, for there may be thousands of keys below one.
     */
    private CompletionStage<Set<NodePath>> findAbsent(Set<String> present) {
        Map<NodePath, Set<NodePath>> byParent = new HashMap<>();
        batch.entries().forEach((name, entry) -> {
            if (isRemovalOfNone(entry, present.contains(name))) {
                NodePath path = path(name);
                byParent.computeIfAbsent(path.parent().orElse(NodePath.ROOT), first -> new HashSet<>())
                        .add(path);
            }
        });
        return Waiting.all(byParent.entrySet().stream().map(each -> missing(each.getKey())
                        .thenApply(top -> top.map(one -> Set.of(one)).orElse(each.getValue()))))
                .thenApply(found -> found.stream().flatMap(Set::stream).collect(Collectors.toSet()));
    }

    /** The topmost that is missing of a znode and those above it; empty if it is there. */
    private CompletableFuture<Optional<NodePath>> missing(NodePath path) {
        if (path.isRoot() || path.equals(log)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return exists(path)
                .thenCompose(stat -> stat.isPresent()
                        ? CompletableFuture.completedFuture(Optional.empty())
                        : missing(path.parent().orElse(NodePath.ROOT))
                                .thenApply(above -> Optional.of(above.orElse(path))));
    }

    private CompletionStage<Optional<Boolean>> send(NodeStat before, Set<String> present, Set<NodePath> absent) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(SetData.of(log, id).withVersion(before.version()));
        for (NodePath path : absent) { // before others are created, which may be above it
            operations.add(Create.of(path));
            operations.add(Delete.of(path));
        }
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
        return isRemovalOfNone(entry, false)
                ? Optional.empty() // there is nothing to take away
                : Optional.of(Create.of(path).withData(entry.data()));
    }

    private static boolean isRemovalOfNone(ConfigBatch.Entry entry, boolean isThere) {
        return !isThere && entry.changes() && entry.data().length == 0;
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
