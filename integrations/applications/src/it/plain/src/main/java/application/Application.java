package application;

import io.conclave.config.SharedValue;
import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.jackson.Jackson3Codec;
import io.conclave.locks.DistributedLock;
import io.netty.util.Version;
import java.time.Duration;
import tools.jackson.databind.ObjectMapper;

/** Takes a lock on each kind of store, and keeps a value there as JSON. */
public final class Application {
    private Application() {}

    public static void main(String[] arguments) throws Exception {
        String netty = Version.identify().get("netty-common").artifactVersion();
        if (!netty.startsWith(System.getProperty("expected.netty"))) {
            throw new IllegalStateException("Netty is " + netty);
        }
        takeLock("embedded:");
        try (ConclaveEnsemble servers = ConclaveEnsemble.start(1)) {
            takeLock(servers.connectString());
        }
    }

    private static void takeLock(String connectString) throws Exception {
        try (Coordinator coordinator = Coordinator.connect(connectString)) {
            DistributedLock.at(coordinator, "/locks/orders")
                    .whileHeld(
                            Duration.ofSeconds(60),
                            grant -> System.out.println(connectString + ": held with the token " + grant.token()));
            keepOrder(coordinator);
        }
    }

    record Order(String name, int count) {}

    private static void keepOrder(Coordinator coordinator) throws Exception {
        Jackson3Codec<Order> orders = Jackson3Codec.of(new ObjectMapper(), Order.class);
        SharedValue<Order> last = SharedValue.at(coordinator, "/orders/last", orders);
        Order order = new Order("books", 3);
        last.set(order);
        Order read = last.get().orElseThrow().value();
        if (!read.equals(order)) {
            throw new IllegalStateException(read + " was read");
        }
    }
}
