package io.conclave.testkit.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A TCP port for a server that is started, killed and started again. It lies below the range from which operating
 * systems take ports for outgoing connections (32768 on Linux, 49152 elsewhere): a port out of that range may be gone
 * by the time the server binds it, most of all while clients that reconnect keep drawing from it.
 */
public final class FreePort {
    private static final int LOWEST = 10_240;
    private static final int BOUND = 32_768;
    private static final int ATTEMPTS = 1000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    /** A locked file for each port that a JVM was given, so that builds next to each other keep apart. */
    private static final Path CLAIMS =
            Path.of(System.getProperty("java.io.tmpdir"), "conclave-test-ports-" + System.getProperty("user.name"));

    /** Locks end when their channel is collected, so channels are kept for the life of the JVM. */
    private static final Set<FileChannel> HELD = ConcurrentHashMap.newKeySet();

    private FreePort() {}

    /**
     * Returns a port on which nothing listens, and that was given neither to this JVM before nor to another one of this
     * machine that still runs. Any thread; does not block.
     *
     * @throws IllegalStateException if a thousand attempts found none
     */
    public static int find() {
        for (int i = 0; i < ATTEMPTS; i++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, BOUND);
            if (GIVEN.add(port) && claim(port) && isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port found between " + LOWEST + " and " + BOUND);
    }

    private static boolean claim(int port) {
        try {
            Files.createDirectories(CLAIMS);
            FileChannel claim = FileChannel.open(
                    CLAIMS.resolve(Integer.toString(port)), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            return isLocked(claim);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot claim port " + port + " in " + CLAIMS, e);
        }
    }

    /** False also if another class of this JVM has the lock; closing the file would end that one, too. */
    private static boolean isLocked(FileChannel claim) throws IOException {
        try {
            if (claim.tryLock() == null) {
                claim.close();
                return false;
            }
            HELD.add(claim);
            return true;
        } catch (OverlappingFileLockException e) {
            HELD.add(claim);
            return false;
        }
    }

    private static boolean isFree(int port) {
        return binds(new InetSocketAddress(port))
                && binds(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static boolean binds(InetSocketAddress address) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(address);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
