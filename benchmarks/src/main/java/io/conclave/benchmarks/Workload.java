package io.conclave.benchmarks;

import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.request.SetData;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What is asked. Every session works on a few znodes of its own, so that no shape measures contention for one znode.
 */
enum Workload {
    /** Sets of 100 bytes. */
    SET("set") {
        @Override
        Request<?> request(SessionNodes nodes, long sequence) {
            return SetData.of(nodes.at(sequence), DATA);
        }
    },
    /** Gets of 100 bytes. */
    GET("get") {
        @Override
        Request<?> request(SessionNodes nodes, long sequence) {
            return GetData.of(nodes.at(sequence));
        }
    },
    /** Sets of 100 bytes, and every hundredth request creates a znode of 100 bytes. */
    SET_AND_CREATE("set+1%create") {
        @Override
        Request<?> request(SessionNodes nodes, long sequence) {
            return sequence % 100 == 0 ? Create.of(nodes.fresh()).withData(DATA) : SetData.of(nodes.at(sequence), DATA);
        }
    };

    static final int DATA_BYTES = 100;
    static final byte[] DATA = "x".repeat(DATA_BYTES).getBytes(java.nio.charset.StandardCharsets.US_ASCII);

    private final String label;

    Workload(String label) {
        this.label = label;
    }

    /** The request that comes next, as the session's {@code sequence}-th of a round. */
    abstract Request<?> request(SessionNodes nodes, long sequence);

    /** Reads a workload from its label. */
    static Workload parse(String text) {
        return Arrays.stream(values())
                .filter(workload -> workload.label.equals(text.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Invalid workload \"" + text + "\": it must be one of "
                        + Arrays.stream(values()).map(Workload::toString).collect(Collectors.joining(", "))));
    }

    @Override
    public String toString() {
        return label;
    }

    /** The znodes that one session works on. Used by one thread at a time. */
    static final class SessionNodes {
        private final NodePath base;
        private final NodePath[] paths;
        private long created;

        SessionNodes(NodePath base, int count) {
            this.base = base;
            paths = new NodePath[count];
            Arrays.setAll(paths, index -> base.child("n" + index));
        }

        NodePath base() {
            return base;
        }

        NodePath[] all() {
            return paths.clone();
        }

        NodePath at(long sequence) {
            return paths[(int) (sequence % paths.length)];
        }

        NodePath fresh() {
            return base.child("c" + created++);
        }
    }
}
