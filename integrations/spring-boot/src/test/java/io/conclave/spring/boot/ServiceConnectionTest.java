package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.conclave.coordinator.Coordinator;
import io.conclave.testcontainers.ConclaveCluster;
import io.conclave.testcontainers.ConclaveContainer;
import io.conclave.testkit.memory.MemoryStore;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.lifecycle.DockerComposeServicesReadyEvent;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.testcontainers.utility.DockerImageName;

/** Needs no engine: what Boot hears of containers and services is made up. */
class ServiceConnectionTest {
    private static final String STORE = UUID.randomUUID().toString();
    private static final String LABEL = "org.springframework.boot.service-connection";

    private static final AutoConfigurations CLUSTER = AutoConfigurations.of(ClusterConnectionAutoConfiguration.class);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("conclave.connect-string=conclave://127.0.0.1:1")
            .withConfiguration(AutoConfigurations.of(ConclaveAutoConfiguration.class));

    @AfterEach
    void forgetStore() {
        MemoryStore.forget(STORE);
    }

    @Test
    void containerOfATestBeatsTheProperty() {
        runner.withConfiguration(
                        BootVersion.autoConfigurations("org.springframework.boot.testcontainers.service.connection."
                                + "ServiceConnectionAutoConfiguration"))
                .withPropertyValues("conclave.connect-timeout=1m")
                .withUserConfiguration(OneContainer.class)
                .run(context -> {
                    assertThat(context).hasSingleBean(Coordinator.class);
                    assertThat(connectString(context)).isEqualTo("memory:" + STORE);
                });
    }

    private static String connectString(ApplicationContext context) {
        return context.getBean(ConclaveConnectionDetails.class).getConnectString();
    }

    @Configuration(proxyBeanMethods = false)
    static class OneContainer {
        @Bean
        @ServiceConnection
        ConclaveContainer server() {
            return new StoreInContainer();
        }
    }

    /** Would be a server in a container, if there were an engine. */
    private static final class StoreInContainer extends ConclaveContainer {
        private boolean started;

        StoreInContainer() {
            super(DockerImageName.parse("registry.example/of/ours:1").asCompatibleSubstituteFor("conclave"));
        }

        @Override
        public void start() {
            started = true;
        }

        @Override
        public String getConnectString() {
            assertThat(started).isTrue();
            return "memory:" + STORE;
        }
    }

    @Test
    void clusterOfATestBeatsTheProperty() {
        runner.withConfiguration(CLUSTER)
                .withUserConfiguration(OneCluster.class)
                .run(context -> {
                    assertThat(context).hasSingleBean(Coordinator.class);
                    ConclaveConnectionDetails details = context.getBean(ConclaveConnectionDetails.class);
                    assertThat(details.getConnectString()).isEqualTo("memory:" + STORE);
                    assertThat(details.canFollowEnsemble()).isFalse();
                });
    }

    @Test
    void onlyOneClusterIsConnectedTo() {
        runner.withConfiguration(CLUSTER)
                .withUserConfiguration(OneCluster.class, AnotherCluster.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessage(
                                "Only one ConclaveCluster can have @ServiceConnection, and these have: first, second"));
    }

    @Test
    void clusterWithoutTheAnnotationIsNotConnectedTo() {
        runner.withConfiguration(CLUSTER)
                .withBean(ConclaveCluster.class, StoreInCluster::new)
                .run(context -> assertThat(connectString(context)).isEqualTo("conclave://127.0.0.1:1"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OneCluster {
        @Bean
        @ServiceConnection
        ConclaveCluster first() {
            return new StoreInCluster();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AnotherCluster {
        @Bean
        @ServiceConnection
        ConclaveCluster second() {
            return new StoreInCluster();
        }
    }

    /** Would be servers in containers, if there were an engine. */
    private static final class StoreInCluster extends ConclaveCluster {
        StoreInCluster() {
            super("conclave:test", 3);
        }

        @Override
        public String getConnectString() {
            return "memory:" + STORE;
        }

        @Override
        public void stop() {}
    }

    @Test
    void serviceOfComposeBeatsTheProperty() {
        assertConnects(new Service("conclave:0.1.0", Map.of()));
        assertConnects(new Service("registry.example:5000/team/conclave:0.1.0", Map.of()));
    }

    @Test
    void serviceOfThePageIsConnectedTo() throws IOException {
        Matcher image = Pattern.compile("(?s)```yaml\nservices:.*?image: (\\S+)")
                .matcher(Files.readString(Path.of("../../docs/integrations/spring-boot.md")));
        assertThat(image.find()).isTrue();
        assertConnects(new Service(image.group(1), Map.of()));
    }

    @Test
    void labelSaysWhetherAServiceOfComposeIsOurs() {
        assertConnects(new Service("registry.example/coordination:7", Map.of(LABEL, "conclave")));
        assertIsNotOurs(new Service("conclave:0.1.0", Map.of(LABEL, "zookeeper")));
        assertIsNotOurs(new Service("zookeeper:3.9", Map.of()));
        assertIsNotOurs(new Service("conclave-proxy:1", Map.of()));
    }

    private void assertConnects(Service service) {
        composed(service).run(context -> {
            assertThat(context).hasSingleBean(ConclaveConnectionDetails.class).hasSingleBean(Coordinator.class);
            assertThat(connectString(context)).isEqualTo("conclave://localhost:40217");
        });
    }

    private void assertIsNotOurs(Service service) {
        composed(service).run(context -> assertThat(connectString(context)).isEqualTo("conclave://127.0.0.1:1"));
    }

    /** With these services, as if Compose had started them. */
    private ApplicationContextRunner composed(Service... services) {
        return runner.withInitializer(context -> tell(context, Arrays.asList(services)));
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void tell(ConfigurableApplicationContext context, List<RunningService> services) {
        try {
            Constructor<DockerComposeServicesReadyEvent> event =
                    DockerComposeServicesReadyEvent.class.getDeclaredConstructor(ApplicationContext.class, List.class);
            event.setAccessible(true);
            ApplicationListener listener =
                    SpringFactoriesLoader.forDefaultResourceLocation()
                            .load(ApplicationListener.class, (type, name, failure) -> {})
                            .stream()
                            .filter(found -> found.getClass().getSimpleName().startsWith("DockerComposeServiceConn"))
                            .findFirst()
                            .orElseThrow();
            listener.onApplicationEvent(event.newInstance(context, services));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** A service whose port for clients is mapped to 40217. */
    private record Service(String imageName, Map<String, String> labels) implements RunningService {
        @Override
        public String name() {
            return "coordination";
        }

        @Override
        public ImageReference image() {
            return ImageReference.of(imageName);
        }

        @Override
        public String host() {
            return "localhost";
        }

        @Override
        public ConnectionPorts ports() {
            return new Ports();
        }

        @Override
        public Map<String, String> env() {
            return Map.of();
        }
    }

    private static final class Ports implements ConnectionPorts {
        @Override
        public int get(int containerPort) {
            assertThat(containerPort).isEqualTo(2181);
            return 40217;
        }

        @Override
        public List<Integer> getAll() {
            return List.of(40217);
        }

        @Override
        public List<Integer> getAll(String protocol) {
            return getAll();
        }
    }
}
