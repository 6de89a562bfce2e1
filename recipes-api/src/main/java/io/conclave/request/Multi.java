package io.conclave.request;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Several operations that take effect together or not at all. A refusal carries the reason and the index of the
 * operation that was refused.
 *
 * @param operations the operations, in order; each sees what those before it did
 */
public record Multi(List<Operation<?>> operations) implements Request<List<Multi.Result>> {
    /** Copies the operations. */
    public Multi {
        operations = List.copyOf(operations);
    }

    /**
     * What one operation answered.
     *
     * @param path of a create: what was created
     * @param stat of a create and a set: the znode's stat; Apache ZooKeeper 3.5 tells none of a create
     */
    public record Result(Optional<NodePath> path, Optional<NodeStat> stat) {
        /** The result of a delete or a check. */
        public static final Result NONE = new Result(Optional.empty(), Optional.empty());
    }

    /** A transaction of these operations. */
    public static Multi of(Operation<?>... operations) {
        return new Multi(List.of(operations));
    }

    @Override
    public Multi within(NodePath namespace) {
        return new Multi(operations.stream()
                .<Operation<?>>map(operation -> operation.within(namespace))
                .toList());
    }

    @Override
    public String describe() {
        return operations.stream().map(Request::describe).collect(Collectors.joining("; ", "multi [", "]"));
    }
}
