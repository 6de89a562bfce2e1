package io.conclave.benchmarks;

import io.conclave.time.TimeSource;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What the machine allows: the time of a bare write with its sync, and that of a message to another process and back;
 * and beside them, in the same rounds, that of one client's set at one server and at the leader of three. No server
 * can be faster than one sync and one round trip; three need a second round trip.
 */
final class FloorBenchmark {
    private static final int ROUNDS = 5;
    private static final int OPERATIONS = 2_000;
    private static final int WARM_UP = 20_000;
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final int RECORD_BYTES = 300;
    private static final byte[] DATA = new byte[100];

    private FloorBenchmark() {}

    /** Does one thing, and returns when it is done. */
    @FunctionalInterface
    private interface Step {
        void run() throws IOException;
    }

    /** Appends records to a file that has its size already, and syncs each. */
    private static final class SyncedFile implements AutoCloseable {
        private final Path path;
        private final FileChannel file;
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(RECORD_BYTES);
        private long position;

        SyncedFile(Path directory) throws IOException {
            path = Files.createDirectories(directory).resolve("floor");
            Files.write(path, new byte[2 * ROUNDS * OPERATIONS * RECORD_BYTES]);
            file = FileChannel.open(path, StandardOpenOption.WRITE);
            file.force(true);
        }

        void append() throws IOException {
            bytes.clear();
            file.write(bytes, position);
            position += RECORD_BYTES;
            file.force(false);
        }

        @Override
        public void close() throws IOException {
            file.close();
            Files.delete(path);
        }
    }

    /** Sends back what comes. In a process of its own. */
    private static void echo() throws IOException {
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            System.out.println(listening.getLocalPort());
            try (Socket socket = listening.accept()) {
                socket.setTcpNoDelay(true);
                DataInputStream in = new DataInputStream(socket.getInputStream());
                byte[] message = new byte[RECORD_BYTES];
                while (true) {
                    in.readFully(message);
                    socket.getOutputStream().write(message);
                }
            }
        }
    }

    /** @param args "echo" for the other process of the round trips */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("echo")) {
            echo();
            return;
        }
        BenchmarkOptions one = BenchmarkOptions.SHORT;
        BenchmarkOptions three = BenchmarkOptions.parse(List.of("--servers=3"));
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        FloorBenchmark.class.getName(),
                        "echo")
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        int echoPort = Integer.parseInt(other.inputReader().readLine());
        try (SyncedFile file = new SyncedFile(one.directory());
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), echoPort)) {
            socket.setTcpNoDelay(true);
            compare("one server", one, Place.STANDALONE, file, socket, 1);
            compare("leader of three", three, Place.LEADER, file, socket, 2);
        } finally {
            other.destroy();
        }
    }

    private static void compare(
            String title, BenchmarkOptions options, Place place, SyncedFile file, Socket socket, int roundTrips)
            throws IOException {
        try (BenchmarkCluster cluster = BenchmarkCluster.start(ServerKind.CONCLAVE, options, TimeSource.system());
                RawSession session = new RawSession(cluster.at(place).port(), SESSION_TIMEOUT_MS)) {
            compare(title, file, socket, session, roundTrips);
        }
    }

    private static void compare(String title, SyncedFile file, Socket socket, RawSession session, int roundTrips)
            throws IOException {
        OutputStream out = socket.getOutputStream();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        byte[] message = new byte[RECORD_BYTES];
        Step trip = () -> {
            out.write(message);
            in.readFully(message);
        };
        Step set = () -> session.set("/floor", DATA);
        session.create("/floor");
        micros(trip, WARM_UP);
        micros(set, WARM_UP);
        double[] syncs = new double[ROUNDS];
        double[] trips = new double[ROUNDS];
        double[] sets = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            syncs[round] = micros(file::append, OPERATIONS / 2);
            trips[round] = micros(trip, OPERATIONS);
            sets[round] = micros(set, OPERATIONS);
        }
        double floor = median(syncs) + roundTrips * median(trips);
        System.out.printf(
                Locale.ROOT,
                "%s: sync %.0f us, round trip %.0f us, floor %.0f us (%d round trips); set %.0f us: %.0f%% of the "
                        + "floor%n",
                title,
                median(syncs),
                median(trips),
                floor,
                roundTrips,
                median(sets),
                100 * floor / median(sets));
    }

    /** The median of one step, in us. */
    private static double micros(Step step, int times) throws IOException {
        List<Long> nanos = new ArrayList<>(times);
        for (int i = 0; i < times; i++) {
            long began = System.nanoTime();
            step.run();
            nanos.add(System.nanoTime() - began);
        }
        nanos.sort(null);
        return nanos.get(times / 2) / 1e3;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
