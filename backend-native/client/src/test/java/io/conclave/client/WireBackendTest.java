package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.time.TimeSource;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class WireBackendTest {
    @Test
    void timesToLiveAreClaimedOfOurServersAlone() {
        assertEquals(true, claimsTtl("conclave://localhost:2181"));
        assertEquals(false, claimsTtl("zookeeper://localhost:2181"));
    }

    private static boolean claimsTtl(String url) {
        try (WireBackend backend = WireBackend.open(
                ConnectString.parse(url), TestSession.options(Duration.ofSeconds(5), TimeSource.system(), 10))) {
            return backend.capabilities().contains(Capability.TTL);
        }
    }
}
