package io.conclave.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusalReason;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.SetAcl;
import io.conclave.request.SetData;
import io.conclave.session.Authentication;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationPreparedEvent;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.autoconfigure.ConfigurationPropertiesRebinderAutoConfiguration;
import org.springframework.cloud.autoconfigure.RefreshAutoConfiguration;
import org.springframework.cloud.context.config.annotation.RefreshScope;
import org.springframework.cloud.context.refresh.ContextRefresher;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;

class ConfigRefreshTest {
    private static final NodePath HOST = NodePath.of("/config/host");
    private static final NodePath PORT = NodePath.of("/config/port");

    private final String store = UUID.randomUUID().toString();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withInitializer(new ConfigDataApplicationContextInitializer())
            .withPropertyValues(
                    "conclave.connect-string=memory:" + store,
                    "conclave.connect-timeout=1m",
                    "spring.config.import=conclave:/config")
            .withConfiguration(AutoConfigurations.of(ConfigRefreshAutoConfiguration.class))
            .withBean(Changes.class);
    private Coordinator operator;

    @BeforeEach
    void writeFirstValues() throws InterruptedException {
        operator = Coordinator.connect("memory:" + store);
        operator.execute(Create.of(NodePath.of("/config")));
        operator.execute(Create.of(HOST).withData("one".getBytes(UTF_8)));
    }

    @AfterEach
    void forgetStore() {
        operator.close();
        MemoryStore.forget(store);
    }

    static class Changes {
        final List<Set<String>> keys = new CopyOnWriteArrayList<>();

        @EventListener
        void on(ConfigChangedEvent event) {
            keys.add(event.getKeys());
        }
    }

    private void set(NodePath path, String value) throws InterruptedException {
        operator.execute(SetData.of(path, value.getBytes(UTF_8)));
    }

    private static void awaitHost(ApplicationContext context, String value) {
        Environment environment = context.getEnvironment();
        await().until(() -> value.equals(environment.getProperty("host")));
    }

    @Test
    void changesReachTheEnvironmentAndAreTold() {
        runner.run(context -> {
            Environment environment = context.getEnvironment();
            assertThat(environment.getProperty("host")).isEqualTo("one");
            List<Set<String>> told = context.getBean(Changes.class).keys;
            set(HOST, "two");
            awaitHost(context, "two");
            await().until(() -> told.equals(List.of(Set.of("host"))));
            operator.execute(Create.of(PORT).withData("2181".getBytes(UTF_8)));
            await().until(() -> "2181".equals(environment.getProperty("port")));
            operator.execute(Delete.of(HOST));
            await().until(() -> !environment.containsProperty("host"));
            await().until(() -> told.equals(List.of(Set.of("host"), Set.of("port"), Set.of("host"))));
        });
    }

    @Test
    void changesBelowTheRootAreToldByTheirWholeKeys() {
        runner.withPropertyValues("spring.config.import=conclave:/").run(context -> {
            Environment environment = context.getEnvironment();
            List<Set<String>> told = context.getBean(Changes.class).keys;
            set(HOST, "two");
            await().until(() -> "two".equals(environment.getProperty("config.host")));
            await().until(() -> told.equals(List.of(Set.of("config.host"))));
        });
    }

    @Test
    void lastValuesStandWithoutAConnectionAndChangesComeWithTheNextSession() {
        runner.run(context -> {
            MemoryStore.named(store).faults().suspendAll();
            assertThat(context.getEnvironment().getProperty("host")).isEqualTo("one");
            MemoryStore.named(store).faults().restoreAll();
            Set.copyOf(MemoryStore.named(store).faults().liveSessions())
                    .forEach(session -> MemoryStore.named(store).faults().expire(session));
            operator.close();
            operator = Coordinator.connect("memory:" + store);
            set(HOST, "two");
            awaitHost(context, "two");
        });
    }

    @Test
    void valueThatIsNoTextLeavesThoseOfBefore() {
        runner.run(context -> {
            operator.execute(SetData.of(HOST, new byte[] {(byte) 0xff}));
            operator.execute(Create.of(PORT).withData("2181".getBytes(UTF_8)));
            assertThat(context.getEnvironment().getProperty("host")).isEqualTo("one");
            set(HOST, "two");
            awaitHost(context, "two");
            assertThat(context.getEnvironment().getProperty("port")).isEqualTo("2181");
        });
    }

    @Test
    void znodeThatMayNotBeReadAnyMoreLeavesTheValuesOfBefore() throws InterruptedException {
        Faults faults = MemoryStore.named(store).faults();
        AtomicInteger reads = new AtomicInteger();
        try (Coordinator owner = Coordinator.builder("memory:" + store)
                .authentication(Authentication.digest("bob", "secret"))
                .connect()) {
            owner.execute(Create.of(PORT).withData("2181".getBytes(UTF_8)));
            runner.run(context -> {
                Environment environment = context.getEnvironment();
                List<Set<String>> told = context.getBean(Changes.class).keys;
                set(HOST, "two");
                awaitHost(context, "two");
                owner.execute(SetAcl.of(PORT, Acl.CREATOR_ONLY));
                faults.intercept((session, request, index) -> {
                    if (request instanceof GetData read && read.path().equals(PORT)) {
                        reads.incrementAndGet();
                    }
                    return RequestFate.PROCEED;
                });
                faults.suspendAll(); // all is read anew on the next connection
                faults.restoreAll();
                await().until(() -> reads.get() > 0);
                assertThat(environment.getProperty("port")).isEqualTo("2181");
                operator.execute(new Multi(List.of(Delete.of(PORT), SetData.of(HOST, "three".getBytes(UTF_8)))));
                awaitHost(context, "three");
                await().until(() -> told.equals(List.of(Set.of("host"), Set.of("host", "port"))));
            });
        }
    }

    @Test
    void optionalImportIsMadeUpForWhenTheServersAreThere() {
        MemoryStore.named(store).faults().suspendAll();
        runner.withPropertyValues("conclave.connect-timeout=50ms", "spring.config.import=optional:conclave:/config")
                .run(context -> {
                    assertThat(context.getEnvironment().containsProperty("host"))
                            .isFalse();
                    MemoryStore.named(store).faults().restoreAll();
                    awaitHost(context, "one");
                });
    }

    @Test
    void refreshIsSwitchedOff() {
        runner.withPropertyValues("conclave.config.refresh=false")
                .run(context -> assertThat(context).doesNotHaveBean(ConfigRefresh.class));
    }

    @Test
    void connectionEndsWithTheApplication() {
        runner.run(context -> await().until(() -> sessions() == 2));
        await().until(() -> sessions() == 1);
    }

    private int sessions() {
        return MemoryStore.named(store).faults().liveSessions().size();
    }

    @ConfigurationProperties
    static class Bound {
        private String host = "";

        public String getHost() {
            return host;
        }

        public void setHost(String host) {
            this.host = host;
        }
    }

    static class Made {
        private final String host;

        Made(String host) {
            this.host = host;
        }

        String host() {
            return host;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(Bound.class)
    static class Refreshed {
        @Bean
        @RefreshScope
        Made made(Environment environment) {
            return new Made(environment.getProperty("host", ""));
        }
    }

    @Test
    void springCloudBindsAnewAndMakesTheBeansOfItsRefreshScopeAnew() {
        runner.withConfiguration(AutoConfigurations.of(
                        RefreshAutoConfiguration.class, ConfigurationPropertiesRebinderAutoConfiguration.class))
                .withUserConfiguration(Refreshed.class)
                .run(context -> {
                    Bound bound = context.getBean(Bound.class);
                    assertThat(bound.getHost()).isEqualTo("one");
                    set(HOST, "two");
                    await().until(() -> bound.getHost().equals("two"));
                    await().until(() -> context.getBean(Made.class).host().equals("two"));
                });
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ConfigRefreshAutoConfiguration.class,
        RefreshAutoConfiguration.class,
        ConfigurationPropertiesRebinderAutoConfiguration.class
    })
    static class Application extends Refreshed {}

    @Test
    void springCloudsOwnRefreshDuringAnOutageTakesNothingAway() throws Exception {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--conclave.connect-string=memory:" + store,
                        "--conclave.connect-timeout=50ms",
                        "--spring.config.import=optional:conclave:/config")) {
            Bound bound = context.getBean(Bound.class);
            set(HOST, "two");
            await().until(() -> bound.getHost().equals("two")); // so it follows
            MemoryStore.named(store).faults().suspendAll();
            context.getBean(ContextRefresher.class).refresh();
            assertThat(context.getEnvironment().getProperty("host")).isEqualTo("two");
            assertThat(bound.getHost()).isEqualTo("two");
            MemoryStore.named(store).faults().restoreAll();
            set(HOST, "three");
            awaitHost(context, "three");
        }
    }

    private SpringApplicationBuilder application() {
        return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE);
    }

    private String[] arguments() {
        return new String[] {
            "--conclave.connect-string=memory:" + store,
            "--conclave.connect-timeout=1m",
            "--spring.config.import=optional:conclave:/config"
        };
    }

    @Test
    void springCloudsOwnRefreshOfATreeThatMayNotBeReadLeavesTheValuesOfTheStart() throws Exception {
        Faults faults = MemoryStore.named(store).faults();
        ApplicationListener<ApplicationPreparedEvent> afterTheImport = event -> faults.refuse(
                request -> request instanceof GetData read && read.path().equals(HOST), RefusalReason.NO_AUTH);
        try (ConfigurableApplicationContext context =
                application().listeners(afterTheImport).run(arguments())) {
            Bound bound = context.getBean(Bound.class);
            context.getBean(ContextRefresher.class).refresh();
            context.getBean(ContextRefresher.class).refresh();
            assertThat(context.getEnvironment().getProperty("host")).isEqualTo("one");
            assertThat(bound.getHost()).isEqualTo("one");
            faults.clear();
            set(HOST, "two");
            awaitHost(context, "two");
        }
    }

    @Test
    void whatSpringCloudsOwnRefreshHasReadIsNotReplacedByWhatWasKnownBeforeAnOutage() throws Exception {
        Faults faults = MemoryStore.named(store).faults();
        Set<Long> others = Set.copyOf(faults.liveSessions());
        try (ConfigurableApplicationContext context = application().run(arguments())) {
            Environment environment = context.getEnvironment();
            set(HOST, "two");
            awaitHost(context, "two"); // so it follows
            long follower = faults.liveSessions().stream()
                    .filter(session -> !others.contains(session))
                    .findFirst()
                    .orElseThrow();
            faults.suspend(follower);
            set(HOST, "three");
            operator.execute(Create.of(PORT).withData("2181".getBytes(UTF_8)));
            context.getBean(ContextRefresher.class).refresh();
            assertThat(environment.getProperty("host")).isEqualTo("three");
            assertThat(environment.getProperty("port")).isEqualTo("2181");
            operator.execute(Delete.of(PORT)); // for the follower it was never there
            faults.restore(follower);
            await().until(() -> !environment.containsProperty("port"));
            set(HOST, "four");
            awaitHost(context, "four");
        }
    }
}
