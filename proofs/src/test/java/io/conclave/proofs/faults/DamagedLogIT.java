package io.conclave.proofs.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import io.conclave.request.SetData;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a server does about a log in which bytes have changed while it was down. */
class DamagedLogIT {
    private static final NodePath DATA = NodePath.of("/data");
    private static final int WRITES = 200;
    private static final int SECTOR = 512;
    private static final int SEGMENT_HEADER = 512;
    private static final int BATCH_HEADER = 92;

    @TempDir
    private Path home;

    /** In a batch's header and in its first entry; what fills its last sector up is zeros that are not read. */
    @ParameterizedTest
    @ValueSource(ints = {20, BATCH_HEADER + 10})
    void aFlippedByteInWhatWasDurableStopsTheStartNamingFileAndOffset(int withinBatch) throws Exception {
        try (ServerProcess server = ServerProcess.in(home)) {
            Path segment = writeAndKill(server);
            long flipped = startOfSector((SEGMENT_HEADER + endOf(segment)) / 2) + withinBatch;
            flip(segment, flipped);

            assertEquals(1, server.startInVain(), server::log);
            Matcher message = Pattern.compile(
                            Pattern.quote(segment.getFileName().toString()) + " is damaged at offset (\\d+)")
                    .matcher(server.log());
            assertTrue(message.find(), server::log);
            assertEquals(startOfSector(flipped), Long.parseLong(message.group(1)));

            flip(segment, flipped);
            checkAllThere(server.start());
        }
    }

    @Test
    void bytesOfATornWriteBehindTheEndAreCut() throws Exception {
        try (ServerProcess server = ServerProcess.in(home)) {
            Path segment = writeAndKill(server);
            byte[] torn = new byte[3 * SECTOR];
            new Random(1).nextBytes(torn);
            long end = (endOf(segment) + SECTOR - 1) / SECTOR * SECTOR;
            try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
                file.seek(end);
                file.write(torn);
            }
            server.start();
            assertTrue(server.log().contains("cut a torn tail of 3 sectors at offset " + end), server::log);
            checkAllThere(server);
        }
    }

    @Test
    void aConfigurationThatBreaksARuleIsRefusedByLineAndKey() throws Exception {
        try (ServerProcess server = ServerProcess.in(home).with("tickTme", 500)) {
            assertEquals(2, server.startInVain(), server::log);
            assertTrue(server.log().contains("zoo.cfg: line 4: key tickTme is unknown"), server::log);
        }
    }

    /** Returns the segment in which the writes lie. */
    private Path writeAndKill(ServerProcess server) throws Exception {
        server.start();
        try (Coordinator client = Coordinator.connect(server.connectString())) {
            client.execute(Create.of(DATA));
            for (int i = 1; i <= WRITES; i++) {
                client.execute(
                        SetData.of(DATA, ByteBuffer.allocate(100).putInt(i).array()));
            }
            server.kill();
        }
        try (Stream<Path> files = Files.walk(home.resolve("data"))) {
            return files.filter(file -> file.getFileName().toString().matches("segment-.*\\.log"))
                    .sorted()
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void checkAllThere(ServerProcess server) throws InterruptedException {
        try (Coordinator client = Coordinator.connect(server.connectString())) {
            byte[] data = client.execute(GetData.of(DATA)).data();
            assertEquals(WRITES, ByteBuffer.wrap(data).getInt());
        }
    }

    /** Where the last byte that is not zero lies, plus one. */
    private static long endOf(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int end = bytes.length;
        while (bytes[end - 1] == 0) {
            end--;
        }
        return end;
    }

    /** Each write was awaited, so each has a batch of its own, and that fits a sector. */
    private static long startOfSector(long offset) {
        return offset / SECTOR * SECTOR;
    }

    private static void flip(Path file, long offset) throws IOException {
        try (RandomAccessFile access = new RandomAccessFile(file.toFile(), "rw")) {
            access.seek(offset);
            int old = access.read();
            access.seek(offset);
            access.write(old ^ 0x10);
        }
    }
}
