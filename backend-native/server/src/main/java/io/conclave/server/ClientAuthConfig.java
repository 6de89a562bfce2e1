package io.conclave.server;

import io.conclave.connection.DigestHash;
import java.util.Base64;
import java.util.Set;

/**
 * What clients must prove, and whether their changes are written down. Immutable.
 *
 * @param digestHash the hash of the scheme digest, by its name in Java; the same on all servers
 * @param enforcedSchemes a connection must have proved an id of one of these; none if it is empty
 * @param audit whether there is an audit log
 */
public record ClientAuthConfig(String digestHash, Set<String> enforcedSchemes, boolean audit) {
    /** Clients need to prove nothing, and nothing is written down. */
    public static final ClientAuthConfig NONE = new ClientAuthConfig("SHA1", Set.of(), false);

    private static final Set<String> SCHEMES = Set.of("digest", "ip");

    /** @throws ConfigException if Java does not have the hash, or a scheme is unknown */
    public ClientAuthConfig {
        enforcedSchemes = Set.copyOf(enforcedSchemes);
        hash(digestHash);
        for (String scheme : enforcedSchemes) {
            if (!SCHEMES.contains(scheme)) {
                throw new ConfigException("enforce.auth.schemes: \"" + scheme
                        + "\" is not a scheme that clients of this server can prove; those are " + SCHEMES);
            }
        }
    }

    private static DigestHash hash(String algorithm) {
        try {
            return new DigestHash(algorithm);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("DigestAuthenticationProvider.digestAlg: " + e.getMessage(), e);
        }
    }

    DigestHash hash() {
        return hash(digestHash);
    }

    void checkSuperDigest(String userAndDigest) {
        String digest = userAndDigest.substring(userAndDigest.indexOf(':') + 1);
        int bytes;
        try {
            bytes = Base64.getDecoder().decode(digest).length;
        } catch (IllegalArgumentException e) {
            bytes = -1;
        }
        if (bytes != hash().bytes()) {
            throw new ConfigException("DigestAuthenticationProvider.superDigest is not one of " + digestHash
                    + " (DigestAuthenticationProvider.digestAlg): that has " + hash().bytes() + " bytes in Base64");
        }
    }
}
