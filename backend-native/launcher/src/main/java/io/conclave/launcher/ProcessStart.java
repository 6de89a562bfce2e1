package io.conclave.launcher;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** When a process began, as a text that tells it from another process that has the same number later. */
final class ProcessStart {
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    /** Its place among the fields of {@code /proc/<pid>/stat} that follow the name, which may hold spaces. */
    private static final int START_FIELD = 19;

    private ProcessStart() {}

    /**
     * On Linux the boot and the clock ticks since then: Java's own instant changes there whenever the wall clock is
     * set. Empty if it is not told.
     */
    static Optional<String> of(ProcessHandle process) {
        try {
            String boot = Files.readString(BOOT, StandardCharsets.US_ASCII).strip();
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1);
            return Optional.of(boot + " " + fields[START_FIELD]);
        } catch (IOException | IndexOutOfBoundsException e) {
            return process.info().startInstant().map(Instant::toString);
        }
    }
}
