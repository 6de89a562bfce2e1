package io.conclave.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.SetData;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshAutoConfiguration;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Spring Cloud's own refresh beside the changes of the imported znodes; see {@link ConfigRefreshTest}, too. */
class CloudRefreshTest {
    private static final NodePath HOST = NodePath.of("/config/host");

    private final String store = UUID.randomUUID().toString();
    private Coordinator operator;

    @BeforeEach
    void writeFirstValue() throws InterruptedException {
        operator = Coordinator.connect("memory:" + store);
        operator.execute(Create.of(NodePath.of("/config")));
        operator.execute(Create.of(HOST).withData("one".getBytes(UTF_8)));
    }

    @AfterEach
    void forgetStore() {
        operator.close();
        MemoryStore.forget(store);
    }

    private void set(String value) {
        operator.submit(SetData.of(HOST, value.getBytes(UTF_8))).join();
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ConfigRefreshAutoConfiguration.class,
        RefreshAutoConfiguration.class,
        ConfigurationPropertiesRebinderAutoConfiguration.class
    })
    @EnableConfigurationProperties(Bound.class)
    static class Application {}

    private ConfigurableApplicationContext run(String locations) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--conclave.connect-string=memory:" + store,
                        "--conclave.connect-timeout=1m",
                        "--spring.config.import=" + locations);
    }

    /** Lets a test act between the reading of the first value and its setting. */
    @ConfigurationProperties
    static class Bound {
        private volatile Runnable beforeOne = () -> {};
        private volatile String host = "";

        public String getHost() {
            return host;
        }

        public void setHost(String host) {
            if (host.equals("one")) {
                beforeOne.run();
            }
            this.host = host;
        }
    }

    @Test
    void changeDuringARefreshIsBoundAfterIt() throws Exception {
        try (ConfigurableApplicationContext context = run("conclave:/config")) {
            Bound bound = context.getBean(Bound.class);
            ContextRefresher refresher = context.getBean(ContextRefresher.class);
            bound.beforeOne = () -> {
                bound.beforeOne = () -> {};
                set("two"); // the refresh has read the value of before
                await().until(() -> bound.getHost().equals("two") || isAwaited(refresher));
            };
            refresher.refresh();
            await().until(() -> bound.getHost().equals("two"));
            assertThat(context.getEnvironment().getProperty("host")).isEqualTo("two");
        }
    }

    private static boolean isAwaited(Object monitor) {
        return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(false, false))
                .filter(Objects::nonNull)
                .map(thread -> thread.getLockInfo())
                .filter(Objects::nonNull)
                .mapToInt(LockInfo::getIdentityHashCode)
                .anyMatch(hash -> hash == System.identityHashCode(monitor));
    }

    @Test
    void importThatARefreshFindsFirstIsFollowed(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("more.properties"), "");
        try (ConfigurableApplicationContext context = run("file:" + file)) {
            Environment environment = context.getEnvironment();
            assertThat(environment.containsProperty("host")).isFalse();
            Files.writeString(file, "spring.config.import=conclave:/config");
            context.getBean(ContextRefresher.class).refresh();
            assertThat(environment.getProperty("host")).isEqualTo("one");
            set("two");
            await().until(() -> "two".equals(environment.getProperty("host")));
        }
    }
}
