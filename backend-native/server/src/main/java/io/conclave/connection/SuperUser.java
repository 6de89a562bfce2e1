package io.conclave.connection;

import java.util.Optional;

/**
 * What proves to be the user {@code super}, which may do everything.
 *
 * @param secret the password of a user of that name; empty if there is none
 * @param digest ZooKeeper's digest of a user and a password, {@code user:digest}; empty if there is none
 */
public record SuperUser(Optional<String> secret, Optional<String> digest) {
    /** Nothing does. */
    public static final SuperUser NONE = new SuperUser(Optional.empty(), Optional.empty());

    /** Names no secret. */
    @Override
    public String toString() {
        return "SuperUser[secret " + (secret.isPresent() ? "known" : "none") + ", digest "
                + (digest.isPresent() ? "known" : "none") + "]";
    }
}
