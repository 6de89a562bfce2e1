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
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.ReactiveDiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.discovery.event.InstanceRegisteredEvent;
import org.springframework.cloud.client.discovery.health.reactive.ReactiveDiscoveryHealthIndicator;
import org.springframework.cloud.client.serviceregistry.RegistrationLifecycle;
import org.springframework.cloud.client.serviceregistry.ServiceRegistry;
import org.springframework.cloud.commons.util.InetUtils;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;
import org.springframework.cloud.zookeeper.discovery.ZookeeperServiceInstance;
import org.springframework.cloud.zookeeper.serviceregistry.ServiceInstanceRegistration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Applications with Spring Cloud Commons on one store, beside what Spring Cloud ZooKeeper writes and reads. */
class SpringCloudTest {
    private static final JsonInstanceSerializer<ZookeeperInstance> THEIRS =
            new JsonInstanceSerializer<>(ZookeeperInstance.class);

    private static final String REACTIVE_HEALTH = "conclaveReactiveDiscoveryHealthIndicator";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String store = UUID.randomUUID().toString();
    private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

    @AfterEach
    void close() {
        applications.forEach(ConfigurableApplicationContext::close);
        MemoryStore.forget(store);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = { // here for their classes only
                "org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.dependency.DependencyFeignClientAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.dependency.DependencyRestTemplateAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.dependency.ZookeeperDependenciesAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.watcher.DependencyWatcherAutoConfiguration",
                "org.springframework.cloud.zookeeper.serviceregistry.ZookeeperAutoServiceRegistrationAutoConfiguration",
                "org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistryAutoConfiguration",
                "org.springframework.cloud.zookeeper.support.CuratorServiceDiscoveryAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.ZookeeperDiscoveryClientConfiguration",
                "org.springframework.cloud.zookeeper.discovery.LoadBalancerZookeeperAutoConfiguration",
                "org.springframework.cloud.zookeeper.discovery.reactive.ZookeeperReactiveDiscoveryClientConfiguration"
            })
    static class Application {
        final List<String> seen = Collections.synchronizedList(new ArrayList<>());
        final List<Object> beats = Collections.synchronizedList(new ArrayList<>());
        private final ObjectProvider<ConclaveDiscoveryClient> discovery;
        volatile int toldByHeartbeats = -1;

        Application(ObjectProvider<ConclaveDiscoveryClient> discovery) {
            this.discovery = discovery;
        }

        /** Asks for what is new, as gateways and monitors do. */
        @EventListener
        void heartbeat(HeartbeatEvent event) {
            beats.add(event.getValue());
            discovery.ifAvailable(
                    client -> toldByHeartbeats = client.getInstances("orders").size());
        }

        @EventListener
        void registered(InstanceRegisteredEvent<?> event) {
            seen.add("registered");
        }

        @Bean
        RegistrationLifecycle<ConclaveRegistration> lifecycle() {
            return new RegistrationLifecycle<>() {
                @Override
                public void postProcessBeforeStartRegister(ConclaveRegistration registration) {
                    registration.putMetadata("started", "yes");
                }

                @Override
                public void postProcessAfterStartRegister(ConclaveRegistration registration) {}

                @Override
                public void postProcessBeforeStopRegister(ConclaveRegistration registration) {}

                @Override
                public void postProcessAfterStopRegister(ConclaveRegistration registration) {}
            };
        }

        /** Is stopped just before the web server. */
        @Bean
        SmartLifecycle witness(ObjectProvider<Coordinator> coordinators) {
            return new SmartLifecycle() {
                private boolean running;

                @Override
                public void start() {
                    running = true;
                }

                @Override
                public void stop() {
                    running = false;
                    Coordinator coordinator = coordinators.getIfUnique();
                    if (coordinator != null && coordinator.state() == SessionState.CONNECTED) {
                        seen.add("stops with "
                                + children(coordinator, "/services/orders").size());
                    }
                }

                @Override
                public boolean isRunning() {
                    return running;
                }

                @Override
                public int getPhase() {
                    return DEFAULT_PHASE - 1010;
                }
            };
        }
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

    private static List<String> children(Coordinator coordinator, String path) {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (Exception e) {
            return List.of();
        }
    }

    private ConfigurableApplicationContext start(WebApplicationType type, String connectString, String... properties) {
        return start(new SpringApplicationBuilder(Application.class), type, connectString, properties);
    }

    private ConfigurableApplicationContext start(
            SpringApplicationBuilder application, WebApplicationType type, String connectString, String... properties) {
        ConfigurableApplicationContext context = application
                .web(type)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "conclave.connect-string=" + connectString,
                        "conclave.discovery.load-timeout=5m",
                        "conclave.discovery.instance-host=127.0.0.1")
                .properties(properties)
                .run();
        applications.add(context);
        return context;
    }

    private ConfigurableApplicationContext server(String... properties) {
        String[] all = new String[properties.length + 1];
        all[0] = "spring.application.name=orders";
        System.arraycopy(properties, 0, all, 1, properties.length);
        return start(WebApplicationType.SERVLET, "memory:" + store, all);
    }

    private ConfigurableApplicationContext client(String... properties) {
        return start(WebApplicationType.NONE, "memory:" + store, properties);
    }

    private static List<ServiceInstance> awaitInstances(ConfigurableApplicationContext client, int count) {
        DiscoveryClient discovery = client.getBean(ConclaveDiscoveryClient.class);
        await().until(() -> discovery.getInstances("orders").size() == count);
        return discovery.getInstances("orders");
    }

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

    /** So that the health of an application does not wait until the servers are there. */
    private static void assertUnknown(Flux<?> answer, String what) {
        IllegalStateException unknown = assertThrows(
                IllegalStateException.class, () -> answer.collectList().block(PATIENCE));
        assertTrue(unknown.getMessage().startsWith("Not known within PT0.05S: " + what), unknown::getMessage);
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
}
