package application;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.spring.boot.CurrentGrant;
import io.conclave.spring.boot.DistributedLocked;
import io.netty.util.Version;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Takes a lock on each kind of store. */
@SpringBootApplication
public class Application {
    public static void main(String[] arguments) throws Exception {
        String netty = Version.identify().get("netty-common").artifactVersion();
        if (!netty.startsWith(System.getProperty("expected.netty"))) {
            throw new IllegalStateException("Netty is " + netty);
        }
        takeLock("embedded:");
        try (ConclaveEnsemble servers = ConclaveEnsemble.start(1)) {
            takeLock(servers.connectString());
        }
    }

    private static void takeLock(String connectString) {
        try (ConfigurableApplicationContext application =
                SpringApplication.run(Application.class, "--conclave.connect-string=" + connectString)) {
            System.out.println(connectString + ": " + application.getBean(Orders.class).settle("ann"));
        }
    }

    @Bean
    Orders orders() {
        return new Orders();
    }

    /** What the lock is for. */
    public static class Orders {
        @DistributedLocked(value = "/locks/#{#customer}", waitTime = "60s")
        public String settle(String customer) {
            return customer + " is settled under the token "
                    + CurrentGrant.get().orElseThrow().token();
        }
    }
}
