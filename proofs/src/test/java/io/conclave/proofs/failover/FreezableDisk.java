package io.conclave.proofs.failover;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * A file system of its own, whose writes and syncs can be made to wait, as on a disk that hangs; reads go on. It takes
 * root and a loop device.
 */
final class FreezableDisk implements AutoCloseable {
    /** Nothing stays frozen longer than that, whatever becomes of the test. */
    private static final int LIMIT_S = 60;

    private final Path mountPoint;
    private @Nullable Process watchdog;

    private FreezableDisk(Path mountPoint) {
        this.mountPoint = mountPoint;
    }

    /**
     * Mounts it on a new directory, with its image beside it; the test is skipped, and says why, where that is not
     * allowed.
     */
    static FreezableDisk mount(Path mountPoint, int megabytes) throws IOException, InterruptedException {
        Files.createDirectories(mountPoint);
        Path image = mountPoint.resolveSibling(mountPoint.getFileName() + ".img");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength((long) megabytes << 20);
        }
        String refusal = run("mkfs.ext4", "-q", "-F", image.toString());
        if (refusal.isEmpty()) {
            refusal = run("mount", "-o", "loop", image.toString(), mountPoint.toString());
        }
        if (!refusal.isEmpty()) {
            System.out.println(
                    "SKIPPED, a file system cannot be mounted here (it takes root and loop devices): " + refusal);
        }
        String reason = "a file system cannot be mounted here: " + refusal;
        Assumptions.assumeTrue(refusal.isEmpty(), reason);
        FreezableDisk disk = new FreezableDisk(mountPoint);
        Files.delete(mountPoint.resolve("lost+found"));
        return disk;
    }

    /** From now on writers wait. */
    void freeze() throws IOException, InterruptedException {
        String watch = "sleep " + LIMIT_S + "; fsfreeze -u '" + mountPoint + "'";
        watchdog = new ProcessBuilder("sh", "-c", watch)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        must("fsfreeze", "-f", mountPoint.toString());
    }

    /** Waiting writers continue. */
    void thaw() throws IOException, InterruptedException {
        Process watching = watchdog;
        if (watching != null) {
            watchdog = null;
            must("fsfreeze", "-u", mountPoint.toString());
            watching.descendants().forEach(ProcessHandle::destroy);
            watching.destroy();
        }
    }

    /** Thaws and unmounts it; it must not be used any more. */
    @Override
    public void close() throws IOException, InterruptedException {
        thaw();
        must("umount", mountPoint.toString());
    }

    private static void must(String... command) throws IOException, InterruptedException {
        String refusal = run(command);
        if (!refusal.isEmpty()) {
            throw new IOException(refusal);
        }
    }

    /** What a command complained of; empty if it went well. */
    private static String run(String... command) throws IOException, InterruptedException {
        try {
            Process process = new ProcessBuilder(List.of(command))
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            boolean well = process.waitFor(30, TimeUnit.SECONDS) && process.exitValue() == 0;
            return well ? "" : command[0] + ": " + output;
        } catch (IOException e) {
            return e.toString();
        }
    }
}
