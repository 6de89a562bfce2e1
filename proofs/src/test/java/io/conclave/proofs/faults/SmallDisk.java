package io.conclave.proofs.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A file system of a few megabytes in memory, that can be filled to the brim. Mounting one takes root. */
public final class SmallDisk implements AutoCloseable {
    private final Path mountPoint;

    private SmallDisk(Path mountPoint) {
        this.mountPoint = mountPoint;
    }

    /** Mounts it on a new directory; the test is skipped, and says why, where that is not allowed. */
    public static SmallDisk mount(Path mountPoint, int megabytes) throws IOException, InterruptedException {
        Files.createDirectories(mountPoint);
        String refusal =
                run(List.of("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", mountPoint.toString()));
        if (!refusal.isEmpty()) {
            System.out.println("SKIPPED, a small tmpfs cannot be mounted here (it takes root): " + refusal);
        }
        Assumptions.assumeTrue(refusal.isEmpty(), () -> "a small tmpfs cannot be mounted here: " + refusal);
        return new SmallDisk(mountPoint);
    }

    public Path path() {
        return mountPoint;
    }

    /** Takes all the room that is left. */
    public void fill() throws IOException {
        byte[] block = new byte[4096];
        try (OutputStream ballast = Files.newOutputStream(ballast())) {
            while (true) {
                ballast.write(block);
            }
        } catch (IOException e) {
            if (!String.valueOf(e.getMessage()).contains("No space left")) {
                throw e;
            }
        }
    }

    /** Gives the room back. */
    public void makeRoom() throws IOException {
        Files.deleteIfExists(ballast());
    }

    private Path ballast() {
        return mountPoint.resolve("ballast");
    }

    /** What a command complained of; empty if it went well. */
    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        boolean well = process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        return well ? "" : command.get(0) + ": " + output;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        String refusal = run(List.of("umount", mountPoint.toString()));
        if (!refusal.isEmpty()) {
            throw new IOException(refusal);
        }
    }
}
