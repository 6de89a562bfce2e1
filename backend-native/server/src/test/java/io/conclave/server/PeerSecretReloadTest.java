package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** What a running server makes of its secret file when that changes. */
@Isolated("counts lines of the log")
class PeerSecretReloadTest {
    private static final byte[] TEXT = "a proof".getBytes(StandardCharsets.US_ASCII);

    @TempDir
    private Path directory;

    private final Logger logger = (Logger) LoggerFactory.getLogger(PeerSecretReload.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final ManualTimeSource time = new ManualTimeSource();
    private PeerSecretFile file;
    private PeerSecretReload reload;
    private RepeatedLook looks;

    @BeforeEach
    void start() {
        lines.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(lines);
        EnsembleMember alone = new EnsembleMember(1, 0, "127.0.0.1", 20_001, "", 0, false);
        file = PeerSecretFile.of(ServerConfig.builder()
                .homeDirectory(Optional.of(directory))
                .ensemble(EnsembleConfig.of(1, Map.of(1, alone)))
                .build());
        reload = new PeerSecretReload(file);
        looks = new RepeatedLook(time, Runnable::run, reload::look);
        looks.start();
    }

    @AfterEach
    void stop() {
        looks.stop();
        logger.detachAppender(lines);
        logger.setLevel(null);
    }

    private Path path() {
        return directory.resolve("peer.secret");
    }

    private void look() {
        time.advance(RepeatedLook.INTERVAL);
    }

    private List<String> logged() {
        return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    @Test
    void anotherSecretCountsWhenItHasBeenReadTwice() {
        PeerSecrets before = reload.get();
        file.addNew();
        look();
        assertSame(before, reload.get());
        look();
        PeerSecrets both = reload.get();
        assertEquals(2, both.size());
        assertEquals(1, both.provenBy(before.proof(0, TEXT), TEXT), "the old one is the second");
        look();
        look();
        assertSame(both, reload.get());
        assertEquals(1, logged().size(), logged().toString());
        assertTrue(logged().get(0).contains(path() + " again: 2 secrets, with the fingerprints "), logged().get(0));
    }

    @Test
    void aFileThatMayNotBeUsedKeepsTheOldSecretAndIsToldOnce() throws IOException {
        PeerSecrets before = reload.get();
        String text = Files.readString(path());
        Files.writeString(path(), text.substring(0, text.length() - 5));
        look();
        assertEquals(List.of(), logged(), "it may be copied just now");
        look();
        look();
        look();
        assertEquals(1, logged().size(), logged().toString());
        assertTrue(logged().get(0).startsWith("The cluster's secret stays as it was: " + path() + ": line 2 is"));
        Files.setPosixFilePermissions(path(), PosixFilePermissions.fromString("rw-r--r--"));
        look();
        look();
        Files.delete(path());
        look();
        look();
        assertEquals(3, logged().size(), logged().toString());
        assertTrue(logged().get(1).contains("chmod 600"), logged().get(1));
        assertSame(before, reload.get());
        assertTrue(file.makeIfMissing());
        look();
        look();
        assertNotEquals(0, reload.get().provenBy(before.proof(0, TEXT), TEXT), "another one was made");
    }

    /** It goes on after a file that was broken, also with the same secret as before. */
    @Test
    void theSameSecretInAFileThatWasBrokenIsInForceWithoutAChange() throws IOException {
        Path kept = Files.copy(path(), directory.resolve("kept"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.writeString(path(), "");
        look();
        look();
        Files.move(kept, path(), StandardCopyOption.REPLACE_EXISTING);
        look();
        look();
        assertEquals(2, logged().size(), logged().toString());
        assertEquals(1, reload.get().size());
    }

    @Test
    void nothingIsReadAfterTheEnd() {
        looks.stop();
        PeerSecrets before = reload.get();
        file.addNew();
        look();
        look();
        look();
        assertSame(before, reload.get());
    }
}
