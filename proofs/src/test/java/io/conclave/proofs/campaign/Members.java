package io.conclave.proofs.campaign;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The members of a cluster, as a client reads them.
 *
 * @param lines one {@code server.N=...} each
 */
record Members(List<String> lines) {
    private static final NodePath CONFIG = NodePath.of("/zookeeper/config");

    /** By what the client's server has applied. Blocks. */
    static Members in(Coordinator client) throws InterruptedException {
        byte[] data = client.execute(GetData.of(CONFIG)).data();
        return new Members(new String(data, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("server."))
                .toList());
    }

    long voters() {
        return lines.stream().filter(line -> line.contains(":participant")).count();
    }

    boolean contains(int number) {
        return lines.stream().anyMatch(line -> line.startsWith("server." + number + "="));
    }

    boolean votes(int number) {
        return lines.stream()
                .anyMatch(line -> line.startsWith("server." + number + "=") && line.contains(":participant"));
    }
}
