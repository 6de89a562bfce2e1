package io.conclave.spring.boot;

import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** An application that ends itself by System.exit: in a method that only the leader runs, or in a listener. */
class ExitingApplication {
    static final String BY_METHOD = "method";
    static final String BY_GRANTED = "granted";
    static final int CODE = 7;
    private static final String PATH = "/elections/exit";

    public static void main(String[] arguments) throws InterruptedException {
        SpringApplication.run(new Class<?>[] {Leading.class}, arguments);
        new CountDownLatch(1).await(); // the exit ends it
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    static class Leading {
        @Bean
        Job job(@Value("${exit.by}") String by) {
            return new Job(by);
        }
    }

    static class Job {
        private final String by;

        Job(String by) {
            this.by = by;
        }

        @Scheduled(fixedDelay = 10)
        @LeaderOnly(PATH)
        public void run() {
            exitIf(BY_METHOD);
        }

        @EventListener
        public void on(LeadershipGrantedEvent event) {
            exitIf(BY_GRANTED);
        }

        private void exitIf(String place) {
            if (by.equals(place)) {
                System.exit(CODE);
            }
        }
    }
}
