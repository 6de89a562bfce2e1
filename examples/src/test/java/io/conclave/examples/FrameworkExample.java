package io.conclave.examples;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.locks.DistributedLock;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetChildren;
import io.conclave.request.SetData;
import io.conclave.spring.boot.LeaderElections;
import io.conclave.spring.integration.ConclaveLeaderInitiator;
import io.conclave.spring.integration.ConclaveLockRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;

/** How the whole files without a main are run: each by the framework that it is for. */
final class FrameworkExample {
    /** What a framework does with the class of an example. */
    interface Run {
        void run(Class<?> example) throws Exception;
    }

    /** By what tells the example: its page, and a word in it. */
    static final Map<String, Run> RUNS = Map.of(
            "docs/integrations/junit.md: OrdersTest", FrameworkExample::runsTests,
            "docs/integrations/junit.md: ImpatientTest", FrameworkExample::runsTests,
            "docs/integrations/micrometer.md: Monitoring", FrameworkExample::isMonitored,
            "docs/integrations/spring-boot.md: MetricsHook", FrameworkExample::tellsTheHooks,
            "docs/integrations/spring-boot.md: DistributedLocked", FrameworkExample::isLocked,
            "docs/integrations/spring-boot.md: LeaderOnly", FrameworkExample::leads,
            "docs/integrations/spring-boot.md: ConfigChangedEvent", FrameworkExample::isToldOfChanges,
            "docs/integrations/spring-cloud.md: DiscoveryClient", FrameworkExample::findsTheService,
            "docs/integrations/spring-integration.md: Coordination", FrameworkExample::hasLocksAndALeader);

    private static final String AUTO_CONFIGURATION = "AutoConfiguration";

    private FrameworkExample() {}

    private static void runsTests(Class<?> example) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(example))
                                .build(),
                        listener);
        TestExecutionSummary summary = listener.getSummary();
        long tests = Arrays.stream(example.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(org.junit.jupiter.api.Test.class))
                .count();
        assertEquals(List.of(), summary.getFailures());
        assertEquals(tests, summary.getTestsSucceededCount());
    }

    private static void isMonitored(Class<?> example) throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        try (Coordinator coordinator =
                (Coordinator) method(example, "monitored", MeterRegistry.class, ObservationRegistry.class)
                        .invoke(made(example), meters, ObservationRegistry.create())) {
            DistributedLock.at(coordinator, "/locks/customers/ann").acquire().close();
            assertEquals(
                    1,
                    meters.get("conclave.lock.wait")
                            .tag("name", "customers")
                            .timer()
                            .count());
        }
    }

    private static void tellsTheHooks(Class<?> example) throws Exception {
        Set<String> told = ConcurrentHashMap.newKeySet();
        MetricsHook hook = new MetricsHook() {
            @Override
            public void duration(String name, String subject, Duration duration) {
                told.add(subject);
            }
        };
        ObjectProvider<MetricsHook> hooks =
                new StaticListableBeanFactory(Map.of("hook", hook)).getBeanProvider(MetricsHook.class);
        try (Coordinator coordinator =
                (Coordinator) method(example, "archive", ObjectProvider.class).invoke(made(example), hooks)) {
            DistributedLock.at(coordinator, "/locks/own").acquire().close();
            await().until(() -> told.contains("/locks/own"));
        }
    }

    private static void isLocked(Class<?> example) throws Exception {
        try (ConfigurableApplicationContext context = boot(
                newStore(),
                example,
                List.of("DistributedLocked" + AUTO_CONFIGURATION),
                DocumentExample.properties("docs/integrations/spring-boot.md", 1))) {
            method(example, "settle", String.class).invoke(context.getBean(example), "ann");
            List<String> locks = context.getBean(Coordinator.class)
                    .execute(GetChildren.of(NodePath.of("/locks/orders")))
                    .names();
            assertEquals(List.of("ann"), locks);
        }
    }

    private static void leads(Class<?> example) throws Exception {
        try (ConfigurableApplicationContext context = boot(example, "LeaderElection" + AUTO_CONFIGURATION)) {
            await().until(() -> context.getBean(LeaderElections.class).isLeader("/elections/reports"));
            method(example, "report").invoke(context.getBean(example));
        }
    }

    private static void isToldOfChanges(Class<?> example) throws Exception {
        String store = newStore();
        NodePath host = NodePath.of("/config/billing/mail/host");
        try (Coordinator operator = Coordinator.connect(store)) {
            for (String path : List.of("/config", "/config/billing", "/config/billing/mail", host.toString())) {
                operator.execute(Create.of(NodePath.of(path)));
            }
            operator.execute(SetData.of(host, bytes("first")));
            try (ConfigurableApplicationContext context = boot(
                    store,
                    example,
                    List.of("ConfigRefresh" + AUTO_CONFIGURATION),
                    DocumentExample.properties("docs/integrations/spring-boot.md", 2))) {
                assertEquals("first", context.getEnvironment().getProperty("mail.host"));
                assertTrue(context.getBean(example) != null);
                operator.execute(SetData.of(host, bytes("second")));
                await().until(() -> "second".equals(context.getEnvironment().getProperty("mail.host")));
            }
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void findsTheService(Class<?> example) throws Exception {
        String store = newStore();
        try (Coordinator coordinator = Coordinator.connect(store);
                ConfigurableApplicationContext context = boot(
                        store,
                        example,
                        List.of("io.conclave.spring.cloud.ConclaveDiscovery" + AUTO_CONFIGURATION),
                        DocumentExample.properties("docs/integrations/spring-cloud.md", 1))) {
            ServiceDiscovery.at(coordinator, "/services")
                    .register(ServiceInstance.named("orders")
                            .address("10.0.0.5")
                            .port(8080)
                            .build());
            DiscoveryClient discovery = context.getBean(DiscoveryClient.class);
            await().until(() -> !discovery.getInstances("orders").isEmpty());
            assertEquals(
                    URI.create("http://10.0.0.5:8080"),
                    method(example, "orders").invoke(context.getBean(example)));
        }
    }

    private static void hasLocksAndALeader(Class<?> example) throws Exception {
        try (ConfigurableApplicationContext context = boot(example)) {
            Lock lock = context.getBean(ConclaveLockRegistry.class).obtain("orders");
            lock.lock();
            lock.unlock();
            ConclaveLeaderInitiator cleaner = context.getBean(ConclaveLeaderInitiator.class);
            await().until(() -> cleaner.getContext().isLeader());
        }
    }

    private static ConfigurableApplicationContext boot(Class<?> example, String... configurations) {
        return boot(newStore(), example, List.of(configurations), new Properties());
    }

    private static String newStore() {
        return "memory:" + UUID.randomUUID();
    }

    /**
     * An application with the example as a bean, these of our configurations (others are no part of the page) and the
     * page's properties, with a store of this test in place of its servers.
     */
    private static ConfigurableApplicationContext boot(
            String store, Class<?> example, List<String> configurations, Properties properties) {
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none"); // the tests' log stays as it is
        SpringApplication application =
                new SpringApplication(new DefaultResourceLoader(example.getClassLoader()), example);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setBannerMode(Banner.Mode.OFF);
        Set<String> sources = new LinkedHashSet<>();
        sources.add("io.conclave.spring.boot.Conclave" + AUTO_CONFIGURATION);
        configurations.forEach(name -> sources.add(name.contains(".") ? name : "io.conclave.spring.boot." + name));
        application.setSources(sources);
        properties.setProperty("conclave.connect-string", store);
        return application.run(properties.entrySet().stream()
                .map(property -> "--" + property.getKey() + "=" + property.getValue())
                .toArray(String[]::new));
    }

    private static Object made(Class<?> example) throws ReflectiveOperationException {
        Constructor<?> constructor = example.getDeclaredConstructor();
        constructor.setAccessible(true);
        return constructor.newInstance();
    }

    /** A method of a class that need not be public. */
    private static Method method(Class<?> example, String name, Class<?>... parameters) throws NoSuchMethodException {
        Method method = example.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }
}
