package application;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.locks.DistributedLock;
import io.netty.util.Version;
import java.time.Duration;

/** Takes a lock on each kind of store. */
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
        }
    }
}
