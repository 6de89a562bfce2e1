package io.conclave.consensus.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class RealDiskTest {
    private static final int LOCKED = 0;
    private static final int REFUSED = 3;

    @TempDir
    private Path directory;

    /** Another process that tries to lock the directory. */
    static final class Stranger {
        private Stranger() {}

        public static void main(String[] args) throws IOException {
            try (Closeable lock = RealDisk.in(Path.of(args[0])).lock("lock")) {
                System.exit(LOCKED);
            } catch (DirectoryInUseException e) {
                System.exit(REFUSED);
            }
        }
    }

    private int stranger() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Stranger.class.getName(),
                        directory.toString())
                .inheritIO()
                .start();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the other process does not end");
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void lockKeepsOtherProcessesOutEvenAfterASecondAttemptOfThisOne() throws Exception {
        RealDisk disk = RealDisk.in(directory);
        Path link = Files.createSymbolicLink(directory.resolveSibling(directory.getFileName() + "-link"), directory);
        try (Closeable lock = disk.lock("lock")) {
            assertThrows(DirectoryInUseException.class, () -> disk.lock("lock"));
            assertThrows(DirectoryInUseException.class, () -> RealDisk.in(link).lock("lock"));
            assertEquals(REFUSED, stranger());
        } finally {
            Files.delete(link);
        }
        assertEquals(LOCKED, stranger());
        disk.lock("lock").close();
    }

    @Test
    void lockGivenBackTwiceIsNotTakenFromTheNextHolder() throws IOException {
        RealDisk disk = RealDisk.in(directory);
        Closeable first = disk.lock("lock");
        first.close();
        try (Closeable second = disk.lock("lock")) {
            first.close();
            assertThrows(DirectoryInUseException.class, () -> disk.lock("lock"));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void othersOnTheMachineReadNothing() throws IOException {
        Path data = directory.resolve("parent").resolve("data");
        RealDisk disk = RealDisk.in(data);
        disk.create("file").close();
        disk.lock("lock").close();
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(data)));
        for (String name : disk.list()) {
            assertEquals(
                    "rw-------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(data.resolve(name))),
                    name);
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFullDiskIsReportedWithTheFileAndTheFreeBytes() throws IOException {
        try (DiskFile full = RealDisk.in(Path.of("/dev")).open("full")) {
            DiskFullException e = assertThrows(DiskFullException.class, () -> full.write(ByteBuffer.allocate(1), 0));
            assertTrue(
                    e.getMessage().matches("no room on the disk for /dev/full \\([0-9]+ bytes are free\\)"),
                    e::getMessage);
        }
    }

    @Test
    void aReadThatFailsNamesFileAndOffset() throws IOException {
        RealDisk disk = RealDisk.in(directory);
        DiskFile file = disk.create("a");
        file.close();
        IOException e = assertThrows(IOException.class, () -> file.read(ByteBuffer.allocate(10), 512));
        assertTrue(e.getMessage().contains(directory.resolve("a") + " cannot be read at offset 512"), e.getMessage());
    }
}
