package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.testkit.ManualTimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long a join token is valid, and how often. */
class JoinTokenFilesTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path directory;

    private final ManualTimeSource time = new ManualTimeSource();
    private ServerConfig config;
    private JoinTokenFiles tokens;

    @BeforeEach
    void open() {
        config = config(PeerAuthentication.REQUIRED);
        PeerSecretFile.of(config).makeIfMissing();
        tokens = JoinTokenFiles.of(config, time).orElseThrow();
    }

    private ServerConfig config(PeerAuthentication authentication) {
        EnsembleMember one = new EnsembleMember(1, 0, "127.0.0.1", 20_001, "", 0, false);
        EnsembleMember two = new EnsembleMember(2, 0, "127.0.0.1", 20_002, "", 0, false);
        return ServerConfig.builder()
                .homeDirectory(Optional.of(directory))
                .ensemble(EnsembleConfig.of(1, Map.of(1, one, 2, two))
                        .withAuthentication(authentication, Optional.empty()))
                .build();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(file -> !file.endsWith("peer.secret")).toList();
        }
    }

    @Test
    void aTokenIsUsedOnceByWhatIsThereAndWhatStartsAnew() throws IOException {
        JoinToken token = tokens.issue(1, HOUR);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(files().get(0))));
        JoinTokenFiles afterRestart = JoinTokenFiles.of(config, time).orElseThrow();
        assertArrayEquals(
                token.key(), afterRestart.find(token.id()).orElseThrow().key());
        assertEquals(1, token.issuer());
        List<byte[]> secrets = afterRestart.redeem(token.id()).orElseThrow();
        assertArrayEquals(PeerSecretFile.of(config).secrets().get(0), secrets.get(0));
        assertEquals(List.of(), files());
        assertTrue(tokens.redeem(token.id()).isEmpty());
        assertTrue(tokens.find(token.id()).isEmpty());
    }

    @Test
    void aTokenExpires() throws IOException {
        JoinToken token = tokens.issue(1, HOUR);
        time.advance(HOUR.minusMillis(1));
        assertTrue(tokens.find(token.id()).isPresent());
        time.advance(Duration.ofMillis(1));
        assertTrue(tokens.find(token.id()).isEmpty());
        assertTrue(tokens.redeem(token.id()).isEmpty());
        tokens.issue(1, HOUR);
        assertEquals(1, files().size(), "the expired one is deleted with the next");
    }

    @Test
    void aTokenThatIsNamedWithoutItsKeyTooOftenIsNotValidAnyMore() throws IOException {
        JoinToken token = tokens.issue(1, HOUR);
        JoinToken other = tokens.issue(1, HOUR);
        for (int i = 1; i < JoinTokenFiles.MOST_WRONG_PROOFS; i++) {
            tokens.wrongProof(token.id());
            tokens.wrongProof(7);
        }
        assertTrue(tokens.find(token.id()).isPresent());
        tokens.wrongProof(token.id());
        assertTrue(tokens.find(token.id()).isEmpty());
        assertTrue(tokens.redeem(other.id()).isPresent());
        assertEquals(List.of(), files());
    }

    @Test
    void ofManyThatRedeemAtOnceOneIsGivenTheSecret() {
        for (int round = 0; round < 20; round++) {
            JoinToken token = tokens.issue(1, HOUR);
            JoinTokenFiles others = JoinTokenFiles.of(config, time).orElseThrow();
            List<CompletableFuture<Boolean>> all = Stream.of(tokens, others, tokens, others)
                    .map(each -> CompletableFuture.supplyAsync(
                            () -> each.redeem(token.id()).isPresent()))
                    .toList();
            assertEquals(1, all.stream().filter(CompletableFuture::join).count());
        }
    }

    @Test
    void aSecretThatMayNotBeUsedLeavesTheTokenValid() throws IOException {
        JoinToken token = tokens.issue(1, HOUR);
        Path secret = directory.resolve("peer.secret");
        String text = Files.readString(secret);
        Files.writeString(secret, "");
        assertThrows(ServerStartException.class, () -> tokens.redeem(token.id()));
        assertThrows(ServerStartException.class, () -> tokens.issue(1, HOUR));
        Files.writeString(secret, text);
        assertTrue(tokens.redeem(token.id()).isPresent());
    }

    @Test
    void whatIsNoTokenIsNotTaken() throws IOException {
        JoinToken token = tokens.issue(1, HOUR);
        Path file = files().get(0);
        for (String text : List.of("", "#\n#\n#\n", "#\n2030-01-01T00:00:00Z\njoin-00\n")) {
            Files.writeString(file, text);
            assertFalse(tokens.find(token.id()).isPresent(), text);
        }
        assertTrue(JoinTokenFiles.of(config(PeerAuthentication.NONE), time).isEmpty());
    }
}
