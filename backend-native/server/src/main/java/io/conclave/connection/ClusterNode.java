package io.conclave.connection;

import io.conclave.protocol.StatRecord;
import io.conclave.tree.TreeState;
import java.nio.charset.StandardCharsets;

/**
 * The node {@code /zookeeper/conclave}, which is not in the tree: it tells a client that knows its name which cluster
 * this is, the generation of its numbers and its feature level, as lines of {@code key=value}. It is no child of its
 * parent and cannot be created; all may read it. A watcher of its data gets an event when this server is about to stop,
 * see {@link Goodbye}.
 */
public final class ClusterNode {
    static final String PATH = "/zookeeper/conclave";

    static boolean isReserved(String path) {
        return path.equals(PATH) || path.startsWith(PATH + "/");
    }

    static byte[] data(TreeState state) {
        String text = "clusterId=" + state.clusterId().toString().replace("-", "") + "\ngeneration="
                + state.generation() + "\nfeatureLevel=" + state.featureLevel() + "\n";
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static StatRecord stat(TreeState state) {
        return stat(data(state).length);
    }

    /** Of what is not in the tree: nothing but the length of its data. */
    static StatRecord stat(int length) {
        return new StatRecord(0, 0, 0, 0, 0, 0, 0, 0, length, 0, 0);
    }
}
