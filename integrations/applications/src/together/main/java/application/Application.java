package application;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.conclave.config.SharedValue;
import io.conclave.coordinator.Coordinator;
import io.conclave.discovery.ServiceDiscovery;
import io.conclave.discovery.ServiceInstance;
import io.conclave.discovery.ServiceProvider;
import io.conclave.discovery.ServiceRegistration;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.jackson.Jackson2Codec;
import io.conclave.locks.DistributedLock;
import io.conclave.metrics.MetricsHook;
import io.conclave.micrometer.ConclaveMetrics;
import io.conclave.micrometer.ConclaveObservations;
import io.conclave.micrometer.CoordinatorMetrics;
import io.conclave.micrometer.PathNames;
import io.conclave.shedlock.ConclaveLockProvider;
import io.conclave.spring.boot.CurrentGrant;
import io.conclave.spring.boot.DistributedLocked;
import io.conclave.spring.boot.LeaderOnly;
import io.conclave.spring.integration.ConclaveLeaderInitiator;
import io.conclave.spring.integration.ConclaveLockRegistry;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.locks.LockRegistry;

/** Uses each integration as its page says, in one application; on the class path, and on the module path. */
@SpringBootApplication
public class Application {
    private static final long MINUTES = 5;

    public static void main(String[] arguments) throws Exception {
        try (ConclaveEnsemble servers = ConclaveEnsemble.start(1);
                ConfigurableApplicationContext application = SpringApplication.run(
                        Application.class,
                        "--spring.application.name=orders",
                        "--server.port=0",
                        "--conclave.connect-timeout=5m",
                        "--conclave.discovery.load-timeout=5m",
                        "--conclave.connect-string=" + servers.connectString())) {
            springBoot(application.getBean(Orders.class));
            springCloud(application.getBean(DiscoveryClient.class));
            springIntegration(application);
            Coordinator coordinator = application.getBean(Coordinator.class);
            shedLock(coordinator);
            micrometer(servers.connectString());
            jackson(coordinator);
            discovery(coordinator);
        }
    }

    @Bean
    LockRegistry lockRegistry(Coordinator coordinator) {
        return new ConclaveLockRegistry(coordinator);
    }

    @Bean
    ConclaveLeaderInitiator cleaner(Coordinator coordinator) {
        return new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("host-7", "cleaner"));
    }

    @Bean
    Orders orders() {
        return new Orders();
    }

    /** What the lock is for. */
    public static class Orders {
        @DistributedLocked(value = "/locks/#{#customer}", waitTime = "5m")
        public String settle(String customer) {
            return customer + " is settled under the token "
                    + CurrentGrant.get().orElseThrow().token();
        }

        @LeaderOnly("/elections/reports")
        public String report() {
            return "reported";
        }
    }

    private static void springBoot(Orders orders) throws Exception {
        System.out.println("Spring Boot, in " + Application.class.getModule() + ": " + orders.settle("ann"));
        await("the method of the leader runs", () -> "reported".equals(orders.report()));
    }

    private static void springCloud(DiscoveryClient discovery) throws Exception {
        await("this application is registered", () -> !discovery.getInstances("orders").isEmpty());
        System.out.println("Spring Cloud: " + discovery.getInstances("orders").get(0).getUri());
    }

    private static void springIntegration(ConfigurableApplicationContext application) throws Exception {
        Lock lock = application.getBean(LockRegistry.class).obtain("order-1");
        check("the lock is given", lock.tryLock(MINUTES, TimeUnit.MINUTES));
        lock.unlock();
        ConclaveLeaderInitiator cleaner = application.getBean(ConclaveLeaderInitiator.class);
        await("the candidate leads", () -> cleaner.getContext().isLeader());
        System.out.println("Spring Integration: " + cleaner.leadership().orElseThrow().token());
    }

    private static void shedLock(Coordinator coordinator) {
        AtomicInteger runs = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            new DefaultLockingTaskExecutor(ConclaveLockProvider.at(coordinator))
                    .executeWithLock((Runnable) runs::incrementAndGet, new LockConfiguration(
                            Instant.now(), "nightly-report", Duration.ofHours(2), Duration.ofHours(1)));
        }
        check("the task has run once", runs.get() == 1);
        System.out.println("ShedLock: the task has run once");
    }

    private static void micrometer(String connectString) throws Exception {
        MeterRegistry meters = new SimpleMeterRegistry();
        PathNames names = PathNames.of(path -> path.startsWith("/locks/customers/") ? "customers" : "orders");
        ConclaveMetrics metrics = new ConclaveMetrics(names);
        metrics.bindTo(meters);
        ConclaveObservations observations = new ConclaveObservations(ObservationRegistry.create(), names);
        try (Coordinator coordinator = Coordinator.builder(connectString)
                .connectTimeout(Duration.ofMinutes(MINUTES))
                .metrics(MetricsHook.of(metrics, observations))
                .connect()) {
            new CoordinatorMetrics(coordinator).bindTo(meters);
            DistributedLock.at(coordinator, "/locks/orders").whileHeld(Duration.ofMinutes(MINUTES), grant -> {});
            await("the wait is measured", () -> meters.find("conclave.lock.wait").timer() != null);
            check("the session has a state", meters.find("conclave.session.state").gauge() != null);
        }
        System.out.println("Micrometer: " + meters.get("conclave.lock.wait").timer().count() + " waits");
    }

    public record Order(String name, int count) {}

    private static void jackson(Coordinator coordinator) throws Exception {
        Jackson2Codec<Order> orders = Jackson2Codec.of(new ObjectMapper(), Order.class);
        SharedValue<Order> last = SharedValue.at(coordinator, "/orders/last", orders);
        last.set(new Order("books", 3));
        check("the value is read", last.get().orElseThrow().value().equals(new Order("books", 3)));
        System.out.println("Jackson: " + last.get().orElseThrow().value());
    }

    private static void discovery(Coordinator coordinator) throws Exception {
        ServiceDiscovery services = ServiceDiscovery.at(coordinator, "/own-services");
        ServiceInstance me =
                ServiceInstance.named("orders").address("10.0.0.5").port(8080).build();
        try (ServiceRegistration registration = services.register(me);
                ServiceProvider orders = services.provider("orders")) {
            orders.cache().awaitLoaded(Duration.ofMinutes(MINUTES));
            check("the instance is found", orders.instance().orElseThrow().id().equals(registration.id()));
        }
        System.out.println("Service discovery: " + me.address() + " is found");
    }

    private static void check(String what, boolean holds) {
        if (!holds) {
            throw new IllegalStateException("Expected: " + what);
        }
    }

    private static void await(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (!condition.call()) {
            check(what, System.nanoTime() < end);
            Thread.sleep(50);
        }
    }
}
