package io.conclave.testkit.memory;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.BackendProvider;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class MemoryBackendTest {
    @Test
    void isFoundByItsSchemeThroughTheServiceLoader() {
        BackendProvider provider = ServiceLoader.load(BackendProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.schemes().contains("memory"))
                .findFirst()
                .orElseThrow();
        BackendOptions options = options(new ManualTimeSource());

        MemoryBackend one = (MemoryBackend) provider.open(ConnectString.parse("memory:shared-by-two"), options);
        MemoryBackend two = (MemoryBackend) provider.open(ConnectString.parse("memory:shared-by-two"), options);
        MemoryBackend alone = (MemoryBackend) provider.open(ConnectString.parse("memory:"), options);

        assertSame(one.store(), two.store());
        assertTrue(alone.store() != one.store());
        assertSame(MemoryStore.named("shared-by-two"), one.store());
        MemoryStore.forget("shared-by-two");
    }

    @Test
    void aConnectStringWithServersIsRefusedByName() {
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> new MemoryBackendProvider()
                        .open(ConnectString.parse("memory://host:2181"), options(new ManualTimeSource())));
        assertTrue(refusal.getMessage().contains("memory://host:2181"), refusal.getMessage());
    }

    @Test
    void aLaterStoreHasALargerGeneration() {
        ManualTimeSource time = new ManualTimeSource();
        MemoryStore first = new MemoryStore(time);
        assertTrue(new MemoryStore(time).generation() > first.generation());
    }

    static BackendOptions options(TimeSource time) {
        return new BackendOptions(
                Duration.ofSeconds(6),
                time,
                Runnable::run,
                List.of(),
                Acl.OPEN,
                1000,
                MetricsHook.NONE,
                true,
                Optional.empty());
    }
}
