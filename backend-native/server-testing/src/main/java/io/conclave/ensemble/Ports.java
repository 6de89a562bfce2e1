package io.conclave.ensemble;

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
 * Ports that a server can open again after a restart. They are below the range of ports for outgoing connections,
 * because a client that reconnects could otherwise hold the port of a server that restarts. A locked file for each
 * keeps other JVMs with ensembles away from it, before the server listens and while it is stopped.
 */
final class Ports {
    private static final int LOWEST = 10_240;
    private static final int BOUND = 32_768;
    private static final int ATTEMPTS = 1000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    /** Shared by all JVMs of this user, and with the ports that this project's own tests choose. */
    private static final Path CLAIMS =
            Path.of(System.getProperty("java.io.tmpdir"), "conclave-test-ports-" + System.getProperty("user.name"));

    /** Locks end when their channel is collected, so channels are kept for the life of the JVM. */
    private static final Set<FileChannel> HELD = ConcurrentHashMap.newKeySet();

    private Ports() {}

    static int find() {
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
        try (ServerSocket socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
