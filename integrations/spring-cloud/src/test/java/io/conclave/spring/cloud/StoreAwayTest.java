package io.conclave.spring.cloud;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.testkit.memory.MemoryStore;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.ReactiveDiscoveryClient;
import org.springframework.cloud.client.discovery.health.reactive.ReactiveDiscoveryHealthIndicator;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What discovery answers, and how healthy it is, while the store is away. */
class StoreAwayTest extends ApplicationsOnOneStore {
    private static final String REACTIVE_HEALTH = "conclaveReactiveDiscoveryHealthIndicator";

    @Test
    void clientGoesOnWithWhatItKnewWhileTheStoreIsAway() throws Exception {
        ConfigurableApplicationContext client = client("conclave.discovery.load-timeout=5s");
        server();
        awaitInstances(client, 1);
        DiscoveryClient discovery = client.getBean(ConclaveDiscoveryClient.class);
        assertEquals(List.of("orders"), discovery.getServices());
        discovery.probe();
        ReactiveDiscoveryClient reactive = client.getBean(ConclaveReactiveDiscoveryClient.class);
        reactive.reactiveProbe().block(PATIENCE);
        MemoryStore.named(store).faults().suspendAll();
        assertEquals(1, discovery.getInstances("orders").size());
        await().until(() -> {
            try {
                discovery.probe();
                return false;
            } catch (IllegalStateException away) {
                return true;
            }
        });
        assertThrows(IllegalStateException.class, () -> reactive.reactiveProbe().block(PATIENCE));
        assertEquals(List.of("orders"), discovery.getServices());
        assertEquals(1, discovery.getInstances("orders").size());
        assertEquals(List.of("orders"), reactive.getServices().collectList().block(PATIENCE));
        assertEquals(
                1, reactive.getInstances("orders").collectList().block(PATIENCE).size());
        MemoryStore.named(store).faults().restoreAll();
    }

    @Test
    void applicationStartsAndStopsWhileTheServersAreDown() {
        ConfigurableApplicationContext application = start(
                WebApplicationType.SERVLET,
                "conclave://127.0.0.1:1",
                "spring.application.name=orders",
                "conclave.discovery.load-timeout=50ms");
        DiscoveryClient discovery = application.getBean(ConclaveDiscoveryClient.class);
        IllegalStateException unknown =
                assertThrows(IllegalStateException.class, () -> discovery.getInstances("orders"));
        assertTrue(unknown.getMessage().contains("orders"), unknown::getMessage);
        assertThrows(IllegalStateException.class, discovery::getServices);
        assertThrows(IllegalStateException.class, discovery::probe);
        ReactiveDiscoveryClient reactive = application.getBean(ConclaveReactiveDiscoveryClient.class);
        assertUnknown(reactive.getInstances("orders"), "the instances of orders");
        assertUnknown(reactive.getServices(), "the names of the services");
        application.close();
    }

    /** So that the health of an application does not wait until the servers are there. */
    private static void assertUnknown(Flux<?> answer, String what) {
        IllegalStateException unknown = assertThrows(
                IllegalStateException.class, () -> answer.collectList().block(PATIENCE));
        assertTrue(unknown.getMessage().startsWith("Not known within PT0.05S: " + what), unknown::getMessage);
    }

    @Test
    void healthOfReactiveDiscoveryAsksTheProbe() {
        ConfigurableApplicationContext server = server(
                "spring.cloud.discovery.blocking.enabled=false",
                "spring.cloud.discovery.client.health-indicator.use-services-query=false");
        ReactiveDiscoveryHealthIndicator health =
                server.getBean(REACTIVE_HEALTH, ReactiveDiscoveryHealthIndicator.class);
        assertTrue(server.containsBean("reactiveDiscoveryClients"), "Spring Cloud gathers the health of clients");
        await().until(() -> status(health).startsWith("UP"));
        MemoryStore.named(store).faults().suspendAll();
        await().until(() -> status(health).startsWith("DOWN"));
        MemoryStore.named(store).faults().restoreAll();
        assertFalse(client("spring.cloud.discovery.client.health-indicator.enabled=false")
                .containsBean(REACTIVE_HEALTH));
    }

    /** Of a class that Boot 4 has in another package. */
    private static String status(ReactiveDiscoveryHealthIndicator health) {
        Mono<?> asked = health.health();
        return String.valueOf(asked.block(PATIENCE));
    }
}
