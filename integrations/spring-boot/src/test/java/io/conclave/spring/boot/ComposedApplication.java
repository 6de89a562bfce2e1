package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application that takes a lock on the service of its {@code compose.yaml}; it says nothing of any server. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ComposedApplication {
    public static void main(String[] arguments) throws InterruptedException {
        try (ConfigurableApplicationContext context = SpringApplication.run(ComposedApplication.class, arguments);
                LockGrant grant = DistributedLock.at(context.getBean(Coordinator.class), "/orders")
                        .acquire(Duration.ofMinutes(4))) {
            grant.ensureHeld();
            System.out.println("held on "
                    + context.getBean(ConclaveConnectionDetails.class).getConnectString());
        }
    }
}
