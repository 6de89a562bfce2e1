package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.backup.BackupFile;
import io.conclave.backup.BackupReceiver;
import io.conclave.protocol.AclRecord;
import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.OpCode;
import io.conclave.protocol.ReplyBody;
import io.conclave.protocol.RequestBody;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a running server gives a backup away; see the launcher's tests for the command. */
@Timeout(300)
class BackupTest {
    private static final String NODE = "/zookeeper/conclave/backup";

    @TempDir
    private Path directory;

    private ConclaveServer server;

    @BeforeEach
    void start() {
        server = TestServer.start(TestServer.config()
                .dataDirectory(Optional.of(directory.resolve("data")))
                .homeDirectory(Optional.of(directory.resolve("data")))
                .commandWhitelist(Set.of("hash"))
                .build());
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private RawClient attached() throws IOException {
        return RawClient.attached(TestServer.port(server), 60_000);
    }

    private RawClient operator() throws IOException {
        RawClient client = attached();
        String credentials = "super:" + AdminSecret.read(directory.resolve("data"));
        RawClient.Message answer =
                client.call(new ConnectionRequest.Auth(0, "digest", credentials.getBytes(StandardCharsets.UTF_8)));
        assertEquals(0, answer.header().err());
        return client;
    }

    private static long create(RawClient client, String path) throws IOException {
        return client.call(
                        new RequestBody.Create(
                                OpCode.CREATE2, path, new byte[500], AclRecord.OPEN, CreateFlag.PERSISTENT),
                        ReplyBody.Create2.class)
                .stat()
                .czxid();
    }

    private static byte[] piece(RawClient client) throws IOException {
        byte[] data = client.call(new RequestBody.GetData(NODE, false), ReplyBody.GetData.class)
                .data();
        return data == null ? new byte[0] : data;
    }

    /** Each 128th state has its digest in what the word hash tells. */
    @Test
    void aBackupUnderWritesIsTheStateAtItsBeginning() throws IOException {
        try (RawClient operator = operator();
                RawClient writer = attached()) {
            long zxid = 0;
            for (int i = 0; i < 1_000 || zxid % DigestLog.EVERY != 0; i++) {
                zxid = create(writer, "/before-" + i);
                operator.call(Requests.exists("/")); // or its session may expire meanwhile
            }
            Path file = directory.resolve("backup");
            int pieces = 0;
            try (BackupReceiver receiver = BackupReceiver.to(file)) {
                for (byte[] piece = piece(operator); piece.length > 0; piece = piece(operator)) {
                    receiver.write(piece);
                    create(writer, "/meanwhile-" + pieces++);
                }
                receiver.complete();
            }
            assertTrue(pieces > 8, pieces + " pieces");
            BackupFile.Contents backup = BackupFile.read(file);
            assertEquals(zxid, backup.summary().zxid());
            assertTrue(backup.state().znode("/meanwhile-0").isEmpty());
            String digest = Long.toHexString(zxid) + ": " + backup.state().digest();
            assertTrue(word("hash").lines().anyMatch(digest::equals), () -> digest + " is not in\n" + hash());
        }
    }

    private String hash() {
        try {
            return word("hash");
        } catch (IOException e) {
            return e.toString();
        }
    }

    private String word(String word) throws IOException {
        try (Socket socket = new Socket("localhost", TestServer.port(server))) {
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void oneConnectionTakesOneBackupAfterTheOther() throws IOException {
        try (RawClient operator = operator()) {
            long last = 0;
            for (int i = 0; i < 3; i++) {
                last = create(operator, "/node-" + i);
                Path file = directory.resolve("backup-" + i);
                try (BackupReceiver receiver = BackupReceiver.to(file)) {
                    for (byte[] piece = piece(operator); piece.length > 0; piece = piece(operator)) {
                        receiver.write(piece);
                    }
                    receiver.complete();
                }
                assertEquals(last, BackupFile.read(file).summary().zxid());
            }
        }
    }

    @Test
    void onlyTheSuperUserTakesOne() throws IOException {
        try (RawClient stranger = attached()) {
            RequestBody read = new RequestBody.GetData(NODE, false);
            assertEquals(ErrorCode.NO_AUTH.code(), stranger.call(read).header().err());
            byte[] wrong = "super:guess".getBytes(StandardCharsets.UTF_8);
            stranger.call(new ConnectionRequest.Auth(0, "digest", wrong));
            assertEquals(ErrorCode.NO_AUTH.code(), stranger.call(read).header().err());
            create(stranger, "/still-served");
        }
    }
}
