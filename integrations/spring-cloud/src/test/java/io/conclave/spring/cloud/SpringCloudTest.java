package io.conclave.spring.cloud;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.ReactiveDiscoveryClient;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.cloud.commons.util.InetUtils;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.discovery.ZookeeperServiceInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ServiceInstanceRegistration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Applications with Spring Cloud Commons on one store, beside what Spring Cloud ZooKeeper writes and reads. */
class SpringCloudTest extends ApplicationsOnOneStore {
    private static final JsonInstanceSerializer<ZookeeperInstance> THEIRS =
            new JsonInstanceSerializer<>(ZookeeperInstance.class);

    @Test
    void applicationIsFoundWhileItsWebServerRuns() throws Exception {
        ConfigurableApplicationContext client = client();
        ConfigurableApplicationContext server =
                server("conclave.discovery.metadata.zone=a \"b\"", "conclave.discovery.instance-id=7f3c");
        ServiceInstance found = awaitInstances(client, 1).get(0);
        String port = server.getEnvironment().getProperty("local.server.port");
        assertEquals(URI.create("http://127.0.0.1:" + port), found.getUri());
        assertEquals(
                "orders 7f3c 127.0.0.1 " + port + " false",
                found.getServiceId() + " " + found.getInstanceId() + " " + found.getHost() + " " + found.getPort() + " "
                        + found.isSecure());
        assertEquals(Map.of("zone", "a \"b\"", "instance_status", "UP", "started", "yes"), found.getMetadata());
        assertEquals(List.of("orders"), client.getBean(DiscoveryClient.class).getServices());
        Application application = server.getBean(Application.class);
        assertEquals(List.of("registered"), application.seen);

        server.close();
        assertEquals(List.of("registered", "stops with 0"), application.seen);
        awaitInstances(client, 0);
    }

    @Test
    void springCloudZooKeeperReadsOurInstancesAndOursReadTheirs() throws Exception {
        ConfigurableApplicationContext client = client();
        server("conclave.discovery.metadata.zone=a");
        ServiceInstance ours = awaitInstances(client, 1).get(0);
        Coordinator coordinator = client.getBean(Coordinator.class);
        NodePath path = NodePath.of("/services/orders/" + ours.getInstanceId());
        var read = THEIRS.deserialize(coordinator.execute(GetData.of(path)).data());
        assertEquals("orders", read.getPayload().getName());
        ZookeeperServiceInstance asTheySee = new ZookeeperServiceInstance("orders", read);
        assertEquals(ours.getUri(), asTheySee.getUri());
        assertEquals(ours.getPort(), asTheySee.getPort());
        assertEquals(ours.getMetadata(), asTheySee.getMetadata());

        var their = ServiceInstanceRegistration.builder()
                .name("orders")
                .id("theirs")
                .address("10.0.0.6")
                .port(80)
                .sslPort(443)
                .payload(new ZookeeperInstance("application-1", "orders", Map.of("instance_status", "UP", "k", "v")))
                .uriSpec("{scheme}://{address}:{ssl-port}")
                .build()
                .getServiceInstance();
        coordinator.execute(Create.of(NodePath.of("/services/orders/theirs"))
                .withData(THEIRS.serialize(their))
                .withMode(CreateMode.EPHEMERAL));
        ServiceInstance seen = awaitInstances(client, 2).stream()
                .filter(instance -> "theirs".equals(instance.getInstanceId()))
                .findFirst()
                .orElseThrow();
        assertEquals("https://10.0.0.6:443", seen.getUri().toString());
        assertEquals("v", seen.getMetadata().get("k"));
        assertTrue(seen.isSecure());
        assertEquals(443, seen.getPort());
    }

    @Test
    void instanceThatIsOutOfServiceIsNotFound() throws Exception {
        ConfigurableApplicationContext client = client();
        ConfigurableApplicationContext server = server();
        awaitInstances(client, 1);
        ConclaveServiceRegistry registry = server.getBean(ConclaveServiceRegistry.class);
        ConclaveRegistration registration = server.getBean(ConclaveRegistration.class);
        assertEquals("UP", registry.getStatus(registration));
        registry.setStatus(registration, "OUT_OF_SERVICE");
        awaitInstances(client, 0);
        assertEquals("OUT_OF_SERVICE", registry.getStatus(registration));
        registry.setStatus(registration, "UP");
        awaitInstances(client, 1);
        registry.deregister(registration);
        awaitInstances(client, 0);
        registry.register(registration);
        registry.register(registration);
        awaitInstances(client, 1);
        registry.close();
        awaitInstances(client, 0);
    }

    @Test
    void heartbeatTellsOfEachChangeWhenTheClientAnswersWithIt() {
        Application client = client().getBean(Application.class);
        ConfigurableApplicationContext server = server();
        await().until(() -> client.toldByHeartbeats == 1);
        ConfigurableApplicationContext second = server();
        await().until(() -> client.toldByHeartbeats == 2);
        server.getBean(ConclaveServiceRegistry.class)
                .setStatus(server.getBean(ConclaveRegistration.class), "OUT_OF_SERVICE");
        await().until(() -> client.toldByHeartbeats == 1);
        second.close();
        await().until(() -> client.toldByHeartbeats == 0);
        List<Object> beats = List.copyOf(client.beats);
        assertEquals(beats.size(), Set.copyOf(beats).size(), beats::toString);
    }

    @Test
    void heartbeatTellsOfServicesThatNobodyAskedFor() throws Exception {
        ConfigurableApplicationContext client = client();
        Application application = client.getBean(Application.class);
        Coordinator coordinator = client.getBean(Coordinator.class);
        await().until(() -> !application.beats.isEmpty()); // the one of the start
        int before = application.beats.size();
        coordinator.execute(Create.of(NodePath.of("/services")));
        coordinator.execute(Create.of(NodePath.of("/services/bills")));
        await().until(() -> application.beats.size() > before);
        assertEquals(List.of("bills"), client.getBean(DiscoveryClient.class).getServices());
    }

    @Test
    void managementServerWithAPortOfItsOwnIsInTheMetadata() {
        ConfigurableApplicationContext client = client();
        ConfigurableApplicationContext server = server("management.server.port=0");
        String port = server.getEnvironment().getProperty("local.management.port");
        assertNotEquals(server.getEnvironment().getProperty("local.server.port"), port);
        assertEquals(port, awaitInstances(client, 1).get(0).getMetadata().get("management.port"));
        server.close();
        awaitInstances(client, 0);
        server("management.server.port=0", "conclave.discovery.metadata.management.port=9");
        assertEquals("9", awaitInstances(client, 1).get(0).getMetadata().get("management.port"));
        server(
                "management.server.port=0",
                "conclave.discovery.instance-id=silent",
                "spring.cloud.service-registry.auto-registration.register-management=false");
        Map<String, String> silent = awaitInstances(client, 2).stream()
                .filter(instance -> "silent".equals(instance.getInstanceId()))
                .findFirst()
                .orElseThrow()
                .getMetadata();
        assertFalse(silent.containsKey("management.port"), silent::toString);
    }

    @Test
    void reactiveClientFindsTheSame() {
        server();
        ConfigurableApplicationContext client = client();
        awaitInstances(client, 1);
        ReactiveDiscoveryClient reactive = client.getBean(ConclaveReactiveDiscoveryClient.class);
        assertEquals("orders", reactive.getInstances("orders").blockFirst().getServiceId());
        assertEquals(List.of("orders"), reactive.getServices().collectList().block());
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoCoordinators {
        @Bean
        Coordinator one(@Value("${conclave.connect-string}") String connectString) {
            return Coordinator.start(connectString);
        }

        @Bean
        Coordinator two(@Value("${conclave.connect-string}") String connectString) {
            return Coordinator.start(connectString);
        }
    }

    @Test
    void severalCoordinatorsOfWhichNoneIsPrimaryAreLeftAlone() {
        ConfigurableApplicationContext context = start(
                new SpringApplicationBuilder(Application.class, TwoCoordinators.class),
                WebApplicationType.NONE,
                "memory:" + store);
        assertEquals(2, context.getBeanNamesForType(Coordinator.class).length);
        for (Class<?> type : List.of(ServiceDiscovery.class, ServiceRegistry.class, KnownServices.class)) {
            assertEquals(0, context.getBeanNamesForType(type).length, type::getName);
        }
    }

    @Test
    void preferredAddressComesBeforeTheHost() {
        ConfigurableApplicationContext client = client();
        server("conclave.discovery.instance-ip-address=10.1.2.3");
        assertEquals("127.0.0.1", awaitInstances(client, 1).get(0).getHost());
        server(
                "conclave.discovery.instance-id=preferred",
                "conclave.discovery.prefer-ip-address=true",
                "conclave.discovery.instance-ip-address=10.1.2.3");
        assertEquals("10.1.2.3", host("preferred", awaitInstances(client, 2)));
        ConfigurableApplicationContext found =
                server("conclave.discovery.instance-id=found", "conclave.discovery.prefer-ip-address=true");
        InetUtils network = found.getBean(InetUtils.class);
        assertEquals(network.findFirstNonLoopbackHostInfo().getIpAddress(), host("found", awaitInstances(client, 3)));
    }

    private static String host(String id, List<ServiceInstance> instances) {
        return instances.stream()
                .filter(instance -> id.equals(instance.getInstanceId()))
                .findFirst()
                .orElseThrow()
                .getHost();
    }

    @Test
    void withoutWebServerOrWhenToldSoNothingIsRegistered() throws Exception {
        ConfigurableApplicationContext client = client("spring.application.name=orders");
        ConfigurableApplicationContext silent = server("conclave.discovery.register=false");
        ConfigurableApplicationContext off = server("conclave.discovery.enabled=false");
        ConfigurableApplicationContext none = server("spring.cloud.discovery.enabled=false");
        assertEquals(List.of(), children(client.getBean(Coordinator.class), "/services"));
        assertFalse(client.getBean(ConclaveAutoRegistration.class).isRunning());
        assertEquals(0, silent.getBeanNamesForType(ConclaveRegistration.class).length);
        for (ConfigurableApplicationContext context : List.of(off, none)) {
            assertEquals(0, context.getBeanNamesForType(ConclaveDiscoveryClient.class).length);
            assertEquals(0, context.getBeanNamesForType(ServiceRegistry.class).length);
            assertEquals(0, context.getBeanNamesForType(ServiceDiscovery.class).length);
        }
    }

    @Test
    void switchesOfSpringCloudCountHereToo() {
        ConfigurableApplicationContext reactive = client("spring.cloud.discovery.blocking.enabled=false");
        ConfigurableApplicationContext blocking = client("spring.cloud.discovery.reactive.enabled=false");
        assertEquals(0, reactive.getBeanNamesForType(ConclaveDiscoveryClient.class).length);
        assertEquals(1, reactive.getBeanNamesForType(ConclaveReactiveDiscoveryClient.class).length);
        assertEquals(1, blocking.getBeanNamesForType(ConclaveDiscoveryClient.class).length);
        assertEquals(0, blocking.getBeanNamesForType(ConclaveReactiveDiscoveryClient.class).length);
        ConfigurableApplicationContext byHand = server("spring.cloud.service-registry.auto-registration.enabled=false");
        assertEquals(1, byHand.getBeanNamesForType(ServiceRegistry.class).length);
        assertEquals(0, byHand.getBeanNamesForType(ConclaveAutoRegistration.class).length);
    }

    @Test
    void instancesThatOthersWroteInAnotherWayAreFound() throws Exception {
        ConfigurableApplicationContext client = client();
        Coordinator coordinator = client.getBean(Coordinator.class);
        server();
        awaitInstances(client, 1);
        coordinator.execute(Create.of(NodePath.of("/services/orders/bare"))
                .withData("{\"address\":\"h\",\"port\":7,\"payload\":\"text\"}".getBytes(UTF_8))
                .withMode(CreateMode.EPHEMERAL));
        ServiceInstance bare = awaitInstances(client, 2).stream()
                .filter(instance -> "bare".equals(instance.getInstanceId()))
                .findFirst()
                .orElseThrow();
        assertEquals(URI.create("http://h:7"), bare.getUri());
        assertEquals(Map.of(), bare.getMetadata());
    }

    @ParameterizedTest
    @CsvSource({"blocking, 0s", "blocking, -1ms", "reactive, 0s", "reactive, -1ms"})
    void timeInWhichNothingCanBeAnsweredIsReportedWithItsKeyAndTheRule(String disabled, String timeout) {
        Exception refused = assertThrows(
                Exception.class,
                () -> client(
                        "spring.cloud.discovery." + disabled + ".enabled=false",
                        "conclave.discovery.load-timeout=" + timeout));
        Throwable cause = refused;
        while (cause != null && !(cause instanceof InvalidConfigurationPropertyValueException)) {
            cause = cause.getCause();
        }
        InvalidConfigurationPropertyValueException invalid =
                assertInstanceOf(InvalidConfigurationPropertyValueException.class, cause, refused::toString);
        assertEquals("conclave.discovery.load-timeout", invalid.getName());
        assertEquals("must be positive", invalid.getReason());
    }
}
