package io.conclave.spring.boot;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application that tells where its {@code compose.yaml} has it connect to, and does nothing there. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ConnectedByCompose {
    public static void main(String[] arguments) {
        try (ConfigurableApplicationContext context = SpringApplication.run(ConnectedByCompose.class, arguments)) {
            System.out.println("connects to "
                    + context.getBean(ConclaveConnectionDetails.class).getConnectString());
        }
    }
}
