package io.conclave.server;

import io.conclave.consensus.PeerSecrets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster's secrets, as a running server has them: their file is read again now and then, so they can be
 * replaced without a restart. What was read counts once it has been read twice, since a file that is being copied is
 * incomplete. A file that may not be used is told in the log, once, and changes nothing.
 *
 * <p>{@link #get} may be called from any thread and does not block; one look at the file runs at a time.
 */
final class PeerSecretReload implements Supplier<PeerSecrets> {
    private static final Logger LOG = LoggerFactory.getLogger(PeerSecretReload.class);

    private final PeerSecretFile file;
    private volatile PeerSecrets present;

    /** What the last look found; one of a file that may not be used has no secrets and the reason. */
    private Content last;

    private Content inForce;

    private record Content(List<byte[]> secrets, String problem) {
        boolean isSame(Content other) {
            return problem.equals(other.problem) && Arrays.deepEquals(secrets.toArray(), other.secrets.toArray());
        }
    }

    /**
     * Reads the file for the first time.
     *
     * @throws ServerStartException if it is missing or may not be used
     */
    PeerSecretReload(PeerSecretFile file) {
        this.file = file;
        this.inForce = new Content(file.secretsAtStart(), "");
        this.last = inForce;
        this.present = file.secretsOf(inForce.secrets());
    }

    @Override
    public PeerSecrets get() {
        return present;
    }

    /** Looks at the file once. Blocks. */
    void look() {
        Content found = content();
        boolean settled = found.isSame(last);
        last = found;
        if (!settled || found.isSame(inForce)) {
            return;
        }
        inForce = found;
        if (!found.problem().isEmpty()) {
            LOG.warn("The cluster's secret stays as it was: {}", found.problem());
            return;
        }
        present = file.secretsOf(found.secrets());
        LOG.info(
                "Read {} again: {}. New links prove that; those that are up stay up",
                file.path(),
                PeerSecretFile.describe(found.secrets()));
    }

    /** Any error means that the file cannot be used now; it is read again at the next look. */
    private Content content() {
        try {
            return new Content(file.secrets(), "");
        } catch (RuntimeException e) {
            return new Content(List.of(), String.valueOf(e.getMessage()));
        }
    }
}
