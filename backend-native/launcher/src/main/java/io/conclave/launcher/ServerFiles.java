package io.conclave.launcher;

import io.conclave.server.ServerConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a running server leaves in its dataDir for the commands: which process it is, and what port its clients use. */
final class ServerFiles {
    private static final Logger LOG = LoggerFactory.getLogger(ServerFiles.class);

    private final Path directory;

    private ServerFiles(Path directory) {
        this.directory = directory;
    }

    static ServerFiles of(ServerConfig config) {
        return new ServerFiles(config.homeDirectory()
                .orElseThrow(() -> new IllegalArgumentException("a server in memory has no files")));
    }

    /** Which process serves, and where. */
    record Running(ProcessHandle process, int port) {}

    Path directory() {
        return directory;
    }

    /** What the server prints when it runs in the background. */
    Path output() {
        return directory.resolve("conclave-server.out");
    }

    /** What the server logs when it runs in the background; it is rolled over, so it stays small. */
    Path log() {
        return directory.resolve("conclave-server.log");
    }

    /** The audit log of a server in the background, if it writes one. */
    Path auditLog() {
        return directory.resolve("conclave-audit.log");
    }

    /** Where the output of the last run went when it had grown large. */
    Path olderOutput() {
        return directory.resolve("conclave-server.out.1");
    }

    private Path pidFile() {
        return directory.resolve("conclave-server.pid");
    }

    /** Tells the commands of this process. A server that cannot do so serves, but they do not find it. */
    void publish(int port) {
        ProcessHandle self = ProcessHandle.current();
        String start = ProcessStart.of(self).orElse("");
        try {
            Files.writeString(pidFile(), self.pid() + "\n" + port + "\n" + start + "\n");
        } catch (IOException e) {
            LOG.warn("{} cannot be written, so commands do not find this server: {}", pidFile(), e.toString());
        }
    }

    /** Takes back what this process has told. */
    void withdraw() {
        try {
            long pid = Long.parseLong(lines().get(0));
            if (pid == ProcessHandle.current().pid()) {
                Files.deleteIfExists(pidFile());
            }
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            LOG.debug("{} is left as it is: {}", pidFile(), e.toString());
        }
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(pidFile(), StandardCharsets.US_ASCII);
    }

    /** The process that the file names, if it is alive and the one that has written it. */
    Optional<Running> running() {
        try {
            List<String> lines = lines();
            long pid = Long.parseLong(lines.get(0));
            int port = Integer.parseInt(lines.get(1));
            String start = lines.size() > 2 ? lines.get(2) : "";
            return ProcessHandle.of(pid)
                    .filter(ProcessHandle::isAlive)
                    .filter(process -> isServer(process, start))
                    .map(process -> new Running(process, port));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    /**
     * A file that is left may name a process that has got the number since: in a container that is this command, for
     * the number is 1 there. Older versions have written no start; then any other Java could be the server.
     */
    private static boolean isServer(ProcessHandle process, String start) {
        Optional<String> actual = ProcessStart.of(process);
        if (start.isEmpty() || actual.isEmpty()) {
            return isJava(process) && !process.equals(ProcessHandle.current());
        }
        return actual.get().equals(start);
    }

    private static boolean isJava(ProcessHandle process) {
        return process.info().command().map(command -> command.contains("java")).orElse(true);
    }
}
