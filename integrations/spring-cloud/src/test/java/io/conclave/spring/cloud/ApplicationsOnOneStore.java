package io.conclave.spring.cloud;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.GetChildren;
import io.conclave.session.SessionState;
import io.conclave.testkit.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.discovery.event.HeartbeatEvent;
import org.springframework.cloud.client.discovery.event.InstanceRegisteredEvent;
import org.springframework.cloud.client.serviceregistry.RegistrationLifecycle;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** Applications with Spring Cloud Commons, whose discovery is on one store. */
abstract class ApplicationsOnOneStore {
    static final Duration PATIENCE = Duration.ofMinutes(2);

    final String store = UUID.randomUUID().toString();
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

    static List<String> children(Coordinator coordinator, String path) {
        try {
            return coordinator.execute(GetChildren.of(NodePath.of(path))).names();
        } catch (Exception e) {
            return List.of();
        }
    }

    ConfigurableApplicationContext start(WebApplicationType type, String connectString, String... properties) {
        return start(new SpringApplicationBuilder(Application.class), type, connectString, properties);
    }

    ConfigurableApplicationContext start(
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

    ConfigurableApplicationContext server(String... properties) {
        String[] all = new String[properties.length + 1];
        all[0] = "spring.application.name=orders";
        System.arraycopy(properties, 0, all, 1, properties.length);
        return start(WebApplicationType.SERVLET, "memory:" + store, all);
    }

    ConfigurableApplicationContext client(String... properties) {
        return start(WebApplicationType.NONE, "memory:" + store, properties);
    }

    static List<ServiceInstance> awaitInstances(ConfigurableApplicationContext client, int count) {
        DiscoveryClient discovery = client.getBean(ConclaveDiscoveryClient.class);
        await().until(() -> discovery.getInstances("orders").size() == count);
        return discovery.getInstances("orders");
    }
}
