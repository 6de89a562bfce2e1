package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import ch.qos.logback.core.status.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The distribution's logging gives Logback nothing to warn of: at a warning it prints all that it did to the standard
 * output, where a command's answer is, such as the token that {@code join} reads.
 */
class DistributionLogTest {
    private static final Path DISTRIBUTION = Path.of("..", "backend-native", "distribution", "src");

    @TempDir
    private Path directory;

    @Test
    void aCommandLogsToTheConsoleAndMakesNoFile() throws Exception {
        configure(Map.of("conclave.log.audit", "none"));
        assertEquals(List.of(), files());
    }

    @Test
    void aServerInTheForegroundHasAnAuditLog() throws Exception {
        configure(Map.of("conclave.log.audit", "audit"));
        assertEquals(List.of("audit.log"), files());
    }

    @Test
    void aServerInTheBackgroundLogsToItsFile() throws Exception {
        configure(Map.of("conclave.log.to", "file"));
        assertEquals(List.of("audit.log", "server.log"), files());
    }

    @Test
    void theScriptSaysWhereTheFilesAre() throws IOException {
        String script = Files.readString(DISTRIBUTION.resolve("bin/conclave-server"));
        assertTrue(script.contains("-Dconclave.conf=\"$home/conf\""), script);
        assertTrue(script.contains("-Dconclave.log.audit=$audit"), script);
    }

    private void configure(Map<String, String> properties) throws JoranException {
        LoggerContext context = new LoggerContext();
        Path conf = DISTRIBUTION.resolve("conf");
        context.putProperty("conclave.conf", conf.toString());
        context.putProperty(
                "conclave.audit.file", directory.resolve("audit.log").toString());
        context.putProperty("conclave.log.file", directory.resolve("server.log").toString());
        properties.forEach(context::putProperty);
        JoranConfigurator configurator = new JoranConfigurator();
        configurator.setContext(context);
        configurator.doConfigure(conf.resolve("logback.xml").toFile());
        context.stop();
        List<Status> warnings = context.getStatusManager().getCopyOfStatusList().stream()
                .filter(status -> status.getEffectiveLevel() > Status.INFO)
                .toList();
        assertEquals(List.of(), warnings);
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
