package application;

import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.spring.boot.CurrentGrant;
import io.conclave.spring.boot.DistributedLocked;
import io.netty.util.Version;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Takes a lock on each kind of store, and asks the actuator what it shows of that. */
@SpringBootApplication
public class Application {
    private static final Pattern KEY = Pattern.compile("\"(\\w+)\"\\s*:");

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

    private static void takeLock(String connectString) throws Exception {
        try (ConfigurableApplicationContext application = SpringApplication.run(
                Application.class,
                "--server.port=0",
                "--conclave.connect-string=" + connectString,
                "--conclave.connect-timeout=60s",
                "--conclave.elections=/elections/reports",
                "--management.endpoints.web.exposure.include=health,conclave",
                "--management.endpoint.health.show-details=always")) {
            Orders orders = application.getBean(Orders.class);
            URI actuator = URI.create("http://127.0.0.1:"
                    + application.getEnvironment().getProperty("local.server.port") + "/actuator/");
            Thread waiter = new Thread(() -> orders.settle("ann", () -> "settled when the lock was free"));
            System.out.println(connectString + ": " + orders.settle("ann", () -> {
                waiter.start();
                return shown(actuator);
            }));
            waiter.join();
        }
    }

    /** What the endpoint shows when the other thread waits: the same keys as on the page. */
    private static String shown(URI actuator) throws Exception {
        String health = get(actuator.resolve("health"));
        if (!health.contains("\"conclave\":{\"details\":{\"session\":\"CONNECTED\"},\"status\":\"UP\"}")
                && !health.contains("\"conclave\":{\"status\":\"UP\",\"details\":{\"session\":\"CONNECTED\"}}")) {
            throw new IllegalStateException("The health is " + health);
        }
        Set<String> onThePage = keys(pageOfTheEndpoint());
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        String shown = get(actuator.resolve("conclave"));
        while (!keys(shown).equals(onThePage) || !shown.contains("\"awaitedCount\":1,")) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("The endpoint shows " + shown + ", the page has " + onThePage);
            }
            Thread.sleep(50);
            shown = get(actuator.resolve("conclave"));
        }
        return shown;
    }

    private static String pageOfTheEndpoint() throws Exception {
        String page = Files.readString(Path.of(System.getProperty("page")));
        int json = page.indexOf("```json", page.indexOf("## Endpoint"));
        return page.substring(json, page.indexOf("```\n", json));
    }

    private static Set<String> keys(String json) {
        Set<String> keys = new TreeSet<>();
        KEY.matcher(json).results().forEach(key -> keys.add(key.group(1)));
        return keys;
    }

    private static String get(URI uri) throws Exception {
        HttpResponse<String> response = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(uri + " answers " + response.statusCode() + " " + response.body());
        }
        return response.body();
    }

    @Bean
    Orders orders() {
        return new Orders();
    }

    /** What the lock is for. */
    public static class Orders {
        @DistributedLocked(value = "/locks/#{#customer}", waitTime = "60s")
        public String settle(String customer, Callable<String> work) {
            try {
                return work.call() + " under the token "
                        + CurrentGrant.get().orElseThrow().token();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
