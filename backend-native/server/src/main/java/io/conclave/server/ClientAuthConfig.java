package io.conclave.server;

import io.conclave.connection.DigestHash;
import io.conclave.tree.IdScheme;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What clients must prove, and whether their changes are written down. Immutable.
 *
 * @param digestHash the hash of the scheme digest, by its name in Java; the same on all servers
 * @param enforcedSchemes a connection must have proved an id of one of these; none if it is empty
 * @param keepsSaslFailed whether a client stays connected whose SASL exchange has failed
 * @param superUsers the users of SASL that may do everything
 * @param saslSection the section of the JAAS file; by default {@code Server}, if there is one
 * @param removesHost whether the id of a Kerberos principal is without its host
 * @param removesRealm whether it is without its realm, if that is the server's own
 * @param audit whether there is an audit log
 * @param principalRules who a Kerberos principal is, as {@code security.auth_to_local} says it; none if it is empty
 */
public record ClientAuthConfig(
        String digestHash,
        Set<String> enforcedSchemes,
        boolean keepsSaslFailed,
        Set<String> superUsers,
        Optional<String> saslSection,
        boolean removesHost,
        boolean removesRealm,
        boolean audit,
        String principalRules) {
    /** Clients need to prove nothing, and nothing is written down. */
    public static final ClientAuthConfig NONE =
            new ClientAuthConfig("SHA1", Set.of(), false, Set.of(), Optional.empty(), false, false, false, "");

    private static final List<String> SCHEMES =
            List.of(IdScheme.DIGEST.word(), IdScheme.IP.word(), IdScheme.SASL.word(), IdScheme.X509.word());

    /** @throws ConfigException if Java does not have the hash, a scheme is unknown, or a rule cannot be read */
    public ClientAuthConfig {
        enforcedSchemes = Set.copyOf(enforcedSchemes);
        superUsers = Set.copyOf(superUsers);
        hash(digestHash);
        rules(principalRules);
        for (String scheme : enforcedSchemes) {
            if (!SCHEMES.contains(scheme)) {
                throw new ConfigException("enforce.auth.schemes: \"" + scheme
                        + "\" is not a scheme that clients of this server can prove; those are " + SCHEMES);
            }
        }
    }

    private static PrincipalRules rules(String text) {
        try {
            return PrincipalRules.of(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("security.auth_to_local: " + e.getMessage(), e);
        }
    }

    PrincipalRules rules() {
        return rules(principalRules);
    }

    private static DigestHash hash(String algorithm) {
        try {
            return new DigestHash(algorithm);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("DigestAuthenticationProvider.digestAlg: " + e.getMessage(), e);
        }
    }

    /**
     * The id of the scheme digest: the user, and the hash of both.
     *
     * @param algorithm of the hash
     * @throws IllegalArgumentException if Java does not have it
     */
    public static String digestId(String algorithm, String user, String password) {
        return new DigestHash(algorithm).idOf(user + ":" + password).id();
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
