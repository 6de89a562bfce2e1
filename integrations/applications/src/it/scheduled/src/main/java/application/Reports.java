package application;

import io.conclave.spring.boot.CurrentGrant;
import io.conclave.spring.boot.LeaderOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** One of the processes: the one that leads reports once in each second. */
@SpringBootApplication
@EnableScheduling
public class Reports {
    private final Path ticks;

    Reports(@Value("${ticks}") Path ticks) {
        this.ticks = ticks;
    }

    public static void main(String[] arguments) throws IOException {
        SpringApplication.run(Reports.class, arguments);
        while (System.in.read() >= 0) {
            continue;
        }
        System.exit(0); // the process that started it is gone
    }

    /** Writes down the second, the token and the process. */
    @Scheduled(cron = "* * * * * *")
    @LeaderOnly("/elections/reports")
    public void report() throws IOException {
        String line = Instant.now().getEpochSecond() + " " + CurrentGrant.get().orElseThrow().token() + " "
                + ProcessHandle.current().pid() + "\n";
        Files.writeString(ticks, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
