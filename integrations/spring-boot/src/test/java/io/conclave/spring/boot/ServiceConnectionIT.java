package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.testcontainers.ConclaveCluster;
import io.conclave.testcontainers.ConclaveContainer;
import io.conclave.testcontainers.TestImage;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Whole applications whose servers run in containers of a real engine; without one, one line says why not. */
class ServiceConnectionIT {
    @Test
    void applicationTakesALockOnTheServerInAContainer() throws Exception {
        TestImage.name(); // ends the test where there is no engine
        ConclaveContainer server;
        try (ConfigurableApplicationContext context = run(OneServer.class)) {
            server = context.getBean(ConclaveContainer.class);
            assertThat(context.getBean(ConclaveConnectionDetails.class).getConnectString())
                    .isEqualTo(server.getConnectString());
            takeLock(context);
        }
        assertThat(server.isRunning()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OneServer {
        @Bean
        @ServiceConnection
        ConclaveContainer coordination() throws Exception {
            return TestImage.server();
        }
    }

    @Test
    void applicationKeepsItsLockWhenAServerOfTheClusterIsKilled() throws Exception {
        TestImage.name();
        ConclaveCluster cluster;
        try (ConfigurableApplicationContext context = run(ThreeServers.class)) {
            cluster = context.getBean(ConclaveCluster.class);
            DistributedLock lock = DistributedLock.at(context.getBean(Coordinator.class), "/orders");
            try (LockGrant held = lock.acquire(TestImage.PATIENCE)) {
                cluster.kill(2);
                takeLock(context);
                assertThat(held.isHeld()).isTrue();
            }
        }
        assertThat(cluster.getServer(1).isRunning()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ThreeServers {
        @Bean
        @ServiceConnection
        ConclaveCluster coordination() throws Exception {
            return new ConclaveCluster(TestImage.name(), 3).withEach(TestImage::prepare);
        }
    }

    private static ConfigurableApplicationContext run(Class<?> configuration) {
        return SpringApplication.run(
                configuration, "--conclave.connect-string=conclave://127.0.0.1:1", "--conclave.session-timeout=30s");
    }

    /** Another one than the test may hold. */
    private static void takeLock(ConfigurableApplicationContext context) throws InterruptedException {
        DistributedLock lock = DistributedLock.at(context.getBean(Coordinator.class), "/locks/of-application");
        try (LockGrant grant = lock.acquire(TestImage.PATIENCE)) {
            assertThat(grant.isHeld()).isTrue();
        }
    }
}
