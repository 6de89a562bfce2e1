package io.conclave.server;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.LogException;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.PeerSecrets;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file with the cluster's secret, the same on all of its servers: a line of 32 random bytes or more in Base64, and
 * a second one while the secret is replaced. A line that starts with # is a comment. Only its owner may read it. All
 * methods block; a {@link ServerStartException} of theirs names the file and the rule, and never what is in it.
 */
public final class PeerSecretFile {
    /** The file's name, in dataDir. */
    public static final String NAME = "peer.secret";

    private static final Logger LOG = LoggerFactory.getLogger(PeerSecretFile.class);
    private static final int FINGERPRINT_BYTES = 4;
    private static final int MOST_BYTES = 16 * 1024;
    private static final Set<PosixFilePermission> OTHERS = EnumSet.complementOf(EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));

    private final ServerConfig config;
    private final EnsembleConfig ensemble;
    private final Optional<Path> file;

    private PeerSecretFile(ServerConfig config, Optional<Path> file) {
        this.config = config;
        this.ensemble = config.ensemble();
        this.file = file;
    }

    /** That of a server with the configuration. */
    public static PeerSecretFile of(ServerConfig config) {
        return new PeerSecretFile(config, config.ensemble().secretFile().or(() -> config.homeDirectory()
                .map(home -> home.resolve(NAME))));
    }

    /** Whether the server has a port for other members, and these are to prove something. */
    public boolean isNeeded() {
        return !ensemble.members().isEmpty() && ensemble.authentication() != PeerAuthentication.NONE;
    }

    /** Where it is, or would be. */
    public Path path() {
        return file.orElseThrow(() -> new ServerStartException(
                "a server in memory that has other members needs a peerSecretFile: it has no directory for " + NAME));
    }

    /**
     * What a server that starts has to know. One that has no others listed makes the secret itself.
     *
     * @throws ServerStartException if it is missing or may not be used
     */
    PeerSecrets read() {
        return secretsOf(secretsAtStart());
    }

    /** As {@link #read}: what is in the file; empty if nothing is proven. */
    List<byte[]> secretsAtStart() {
        if (ensemble.members().isEmpty()) {
            return List.of();
        }
        if (ensemble.authentication() == PeerAuthentication.NONE) {
            LOG.warn("peerAuthentication=none: anyone who reaches the peer port of this server can read and change all"
                    + " data, and end the cluster");
            return List.of();
        }
        if (ensemble.isAlone() && makeIfMissing()) {
            LOG.info("Made the cluster's secret, which other members will need: {}", path());
        }
        if (!Files.exists(path())) {
            throw new ServerStartException("this server has no cluster secret: " + path() + " is missing. Copy that"
                    + " file from another server of the cluster, with mode 600; a new cluster gets it by init on one"
                    + " server, and a cluster without one by new-secret (or allow that with peerAuthentication=none)");
        }
        if (ensemble.authentication() == PeerAuthentication.OPTIONAL) {
            LOG.warn("peerAuthentication=optional: anyone who reaches the peer port of this server can read and change"
                    + " all data, and end the cluster; remove that line when all servers have the secret");
        }
        List<byte[]> secrets = secrets();
        LOG.info("The cluster's secret is in {}: {}", path(), describe(secrets));
        return secrets;
    }

    /** Those of members that prove to each other what this file's configuration asks for. */
    PeerSecrets secretsOf(List<byte[]> secrets) {
        return secrets.isEmpty() ? PeerSecrets.NONE : PeerSecrets.of(ensemble.authentication(), secrets);
    }

    /** For operators who compare the files of servers: the first bytes of a hash of each. */
    static String describe(List<byte[]> secrets) {
        return secrets.stream()
                .map(secret -> HexFormat.of().formatHex(hash(secret), 0, FINGERPRINT_BYTES))
                .collect(Collectors.joining(
                        ", ",
                        secrets.size() == 1
                                ? "1 secret, with the fingerprint "
                                : secrets.size() + " secrets, with the fingerprints ",
                        ""));
    }

    private static byte[] hash(byte[] secret) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update("conclave fingerprint".getBytes(StandardCharsets.US_ASCII));
            return digest.digest(secret);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this Java has no SHA-256", e);
        }
    }

    /** As {@link #read}, of a server that is not to start: no secrets if there is no file. */
    PeerSecrets readIfThere() {
        return isNeeded() && Files.exists(path()) ? secretsOf(secrets()) : PeerSecrets.NONE;
    }

    /**
     * What is in the file, the present one first.
     *
     * @throws ServerStartException if it is missing or may not be used
     */
    List<byte[]> secrets() {
        requireOwnersOnly();
        List<byte[]> secrets = new ArrayList<>();
        List<String> lines = lines();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                secrets.add(secret(i + 1, line));
            }
        }
        if (secrets.isEmpty() || secrets.size() > PeerSecrets.MOST_SECRETS) {
            throw new ServerStartException(path() + " has " + secrets.size()
                    + " secrets; it must have one, or two while" + " the secret is replaced, a line each");
        }
        return secrets;
    }

    private List<String> lines() {
        try {
            if (Files.size(path()) > MOST_BYTES) {
                throw new ServerStartException(path() + " is longer than " + MOST_BYTES + " bytes: not a secret file");
            }
            return Files.readAllLines(path(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new ServerStartException(path() + ", the cluster's secret, cannot be read: " + e, e);
        }
    }

    private byte[] secret(int number, String line) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(line);
        } catch (IllegalArgumentException e) {
            throw new ServerStartException(path() + ": line " + number + " is not Base64");
        }
        if (bytes.length < PeerSecrets.LEAST_BYTES) {
            throw new ServerStartException(path() + ": line " + number + " is a secret of " + bytes.length
                    + " bytes; it must have " + PeerSecrets.LEAST_BYTES + " random ones or more");
        }
        return bytes;
    }

    private void requireOwnersOnly() {
        if (!OwnersFile.isPosix()) {
            return;
        }
        try {
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(path());
            Set<PosixFilePermission> ofOthers = EnumSet.copyOf(OTHERS);
            ofOthers.retainAll(permissions);
            if (!ofOthers.isEmpty()) {
                throw new ServerStartException(path() + " has the permissions "
                        + PosixFilePermissions.toString(permissions)
                        + ", but only its owner may read the cluster's secret: chmod 600 " + path());
            }
            OwnersFile.otherOwner(path(), OwnersFile.ownUser()).ifPresent(owner -> {
                throw new ServerStartException(path() + " belongs to " + owner
                        + ", who can change it; the cluster's secret must belong to the user of this server, or to"
                        + " root: chown it, after a look at what is in it");
            });
        } catch (IOException e) {
            throw new ServerStartException(path() + ", the cluster's secret, cannot be read: " + e, e);
        }
    }

    /**
     * Makes a secret if there is no file; whether it did.
     *
     * @throws ServerStartException if it cannot be written
     */
    public boolean makeIfMissing() {
        if (Files.exists(path())) {
            return false;
        }
        write(List.of(random()));
        return true;
    }

    /**
     * Makes a token with which this server, once it runs, gives the secret to one new server.
     *
     * @throws ServerStartException if members prove nothing, the secret may not be used, or no file can be written
     */
    public JoinToken newToken(Duration validFor, TimeSource time) {
        return JoinTokenFiles.of(config, time)
                .orElseThrow(() -> new ServerStartException("this server has no secret to give for a token"))
                .issue(ensemble.memberId(), validFor);
    }

    /**
     * Asks the server that has made the token for the secret, and makes the file of it.
     *
     * @throws LogException if that server does not give it; the message says whether the token may be used up
     * @throws ServerStartException if there is a secret already, or it cannot be written
     */
    public void fetch(EnsembleMember issuer, JoinToken token) {
        requireMissing();
        write(OfflineLog.fetchSecrets(
                ensemble.memberId(), issuer, ensemble.tls().open(), token));
    }

    /**
     * @throws ServerStartException if the file is there
     */
    public void requireMissing() {
        if (Files.exists(path())) {
            throw new ServerStartException(path() + " is there already: this server has a secret. If it is that of"
                    + " another cluster, move it away first");
        }
    }

    /**
     * Puts a new secret in front of the present one.
     *
     * @throws ServerStartException if there are two already, the present one may not be used, or the file cannot be
     *     written
     */
    public void addNew() {
        List<byte[]> present = secrets();
        if (present.size() == PeerSecrets.MOST_SECRETS) { // the second may be the only one that the others have
            throw new ServerStartException(path() + " has two secrets already: the present one is being replaced. To"
                    + " go on with that, copy this file to all other servers, and delete its last line, the old secret,"
                    + " everywhere when each has logged that it read both. To take it back, if no other server has"
                    + " the new one yet, delete the first of the two secrets, below the comment. Then new-secret"
                    + " makes another one");
        }
        write(List.of(random(), present.get(0)));
    }

    private static byte[] random() {
        byte[] bytes = new byte[PeerSecrets.LEAST_BYTES];
        new SecureRandom().nextBytes(bytes);
        return bytes;
    }

    private void write(List<byte[]> secrets) {
        StringBuilder text = new StringBuilder("# The secret of the members of one Conclave cluster, the same on all of"
                + " its servers. Anyone who has it can be a member.\n");
        for (byte[] secret : secrets) {
            text.append(Base64.getEncoder().encodeToString(secret)).append('\n');
        }
        try {
            OwnersFile.write(path(), text.toString());
        } catch (IOException e) {
            throw new ServerStartException(path() + ", the cluster's secret, cannot be written: " + e, e);
        }
    }
}
