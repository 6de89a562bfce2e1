package io.conclave.server;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.JoinTokens;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The join tokens of a server: a file in its home directory for each, beside the cluster's secret and with the same
 * mode. A command makes it, and the server deletes it before it gives the secret. So a token is valid once, also when
 * the server restarts in between. Thread-safe; all methods block.
 */
final class JoinTokenFiles implements JoinTokens {
    private static final Logger LOG = LoggerFactory.getLogger(JoinTokenFiles.class);
    private static final String PREFIX = "join-";
    private static final String SUFFIX = ".token";

    /** The key cannot be guessed; so many wrong proofs are somebody who tries. */
    static final int MOST_WRONG_PROOFS = 16;

    private final Path directory;
    private final PeerSecretFile secret;
    private final TimeSource time;

    /** By id, of tokens that are there. */
    private final Map<Long, Integer> wrongProofs = new HashMap<>();

    private JoinTokenFiles(Path directory, PeerSecretFile secret, TimeSource time) {
        this.directory = directory;
        this.secret = secret;
        this.time = time;
    }

    /** Those of a server with the configuration; empty if it has no secret to give. */
    static Optional<JoinTokenFiles> of(ServerConfig config, TimeSource time) {
        PeerSecretFile secret = PeerSecretFile.of(config);
        return config.homeDirectory()
                .filter(home -> secret.isNeeded())
                .map(home -> new JoinTokenFiles(home, secret, time));
    }

    /**
     * Makes a token, and deletes those that have expired.
     *
     * @param self the number of this server
     * @throws ServerStartException if the secret may not be used, or the file cannot be written
     */
    JoinToken issue(int self, Duration validFor) {
        secret.secrets();
        JoinToken token = JoinToken.random(self);
        Instant until = Instant.ofEpochMilli(time.wallMillis()).plus(validFor);
        try {
            deleteExpired();
            OwnersFile.write(
                    file(token.id()),
                    "# A server that has this can join the cluster, once.\n" + until + "\n" + token.text() + "\n");
        } catch (IOException e) {
            throw new ServerStartException("no join token can be made in " + directory + ": " + e, e);
        }
        return token;
    }

    private void deleteExpired() throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
            for (Path file : files) {
                if (read(file).isEmpty()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private Path file(long id) {
        return directory.resolve(PREFIX + HexFormat.of().toHexDigits(id) + SUFFIX);
    }

    @Override
    public Optional<JoinToken> find(long id) {
        Path file = file(id);
        try {
            return read(file).filter(token -> token.id() == id);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            LOG.warn("{}, a join token, cannot be read: {}", file, e.toString());
            return Optional.empty();
        }
    }

    /** Empty if it has expired, or is no token. */
    private Optional<JoinToken> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file, StandardCharsets.US_ASCII);
        try {
            Instant until = Instant.parse(lines.get(1));
            return until.isAfter(Instant.ofEpochMilli(time.wallMillis()))
                    ? Optional.of(JoinToken.parse(lines.get(2)))
                    : Optional.empty();
        } catch (DateTimeParseException | IllegalArgumentException | IndexOutOfBoundsException e) {
            LOG.warn("{} is no join token", file);
            return Optional.empty();
        }
    }

    @Override
    public synchronized void wrongProof(long id) {
        if (find(id).isEmpty()) {
            wrongProofs.remove(id);
            return;
        }
        if (wrongProofs.merge(id, 1, Integer::sum) >= MOST_WRONG_PROOFS) {
            wrongProofs.remove(id);
            LOG.warn(
                    "The join token {} is not valid any more: {} callers have named it without having it",
                    HexFormat.of().toHexDigits(id),
                    MOST_WRONG_PROOFS);
            delete(id);
        }
    }

    @Override
    public synchronized Optional<List<byte[]>> redeem(long id) {
        List<byte[]> secrets = secret.secrets();
        wrongProofs.remove(id);
        return find(id).isPresent() && delete(id) ? Optional.of(secrets) : Optional.empty();
    }

    /** Whether this call has deleted it; it does not come back after a power failure. */
    private boolean delete(long id) {
        try {
            Files.delete(file(id));
            OwnersFile.syncNames(directory);
            return true;
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            LOG.warn("{}, a join token, cannot be deleted, so it is not taken: {}", file(id), e.toString());
            return false;
        }
    }
}
