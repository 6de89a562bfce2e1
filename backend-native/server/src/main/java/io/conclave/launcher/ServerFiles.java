package io.conclave.launcher;

import io.conclave.server.ServerConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What a running server leaves in its dataDir for the commands: which process it is, and what port its clients use. */
final class ServerFiles {
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

    void publish(int port) {
        try {
            Files.writeString(pidFile(), ProcessHandle.current().pid() + "\n" + port + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(pidFile() + " cannot be written: " + e, e);
        }
    }

    void withdraw() {
        try {
            if (running()
                    .filter(known -> known.process().equals(ProcessHandle.current()))
                    .isPresent()) {
                Files.deleteIfExists(pidFile());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(pidFile() + " cannot be deleted: " + e, e);
        }
    }

    /** The process that the file names, if it is alive and could be the server; a number may have been used again. */
    Optional<Running> running() {
        try {
            List<String> lines = Files.readAllLines(pidFile(), StandardCharsets.US_ASCII);
            long pid = Long.parseLong(lines.get(0));
            int port = Integer.parseInt(lines.get(1));
            return ProcessHandle.of(pid)
                    .filter(ProcessHandle::isAlive)
                    .filter(ServerFiles::isJava)
                    .map(process -> new Running(process, port));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    private static boolean isJava(ProcessHandle process) {
        return process.info().command().map(command -> command.contains("java")).orElse(true);
    }
}
