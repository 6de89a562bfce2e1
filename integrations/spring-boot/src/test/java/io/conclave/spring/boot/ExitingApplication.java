package io.conclave.spring.boot;

import java.util.concurrent.CountDownLatch;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * An application that ends itself by System.exit: in a method that only the leader runs, in a listener, or in such a
 * method when the stop of the application interrupts it.
 */
class ExitingApplication {
    static final String BY_METHOD = "method";
    static final String BY_GRANTED = "granted";
    static final String BY_INTERRUPT = "interrupt";
    static final int CODE = 7;
    private static final String PATH = "/elections/exit";

    public static void main(String[] arguments) throws InterruptedException {
        ConfigurableApplicationContext context = SpringApplication.run(new Class<?>[] {Leading.class}, arguments);
        context.getBean(Job.class).awaitBegin();
        context.close();
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
        private final CountDownLatch begun = new CountDownLatch(1);

        Job(String by) {
            this.by = by;
        }

        @Scheduled(fixedDelay = 10)
        @LeaderOnly(PATH)
        public void run() {
            exitIf(BY_METHOD);
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                exitIf(BY_INTERRUPT);
            }
        }

        public void awaitBegin() throws InterruptedException {
            begun.await();
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
