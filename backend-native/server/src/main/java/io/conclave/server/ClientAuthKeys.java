package io.conclave.server;

import io.conclave.connection.DigestHash;
import io.conclave.tree.IdScheme;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/** The lines of a configuration file that say what clients must prove. Not thread-safe. */
final class ClientAuthKeys {
    private static final Set<String> KEYS = Set.of(
            "DigestAuthenticationProvider.digestAlg",
            "allowSaslFailedClients",
            "kerberos.removeHostFromPrincipal",
            "kerberos.removeRealmFromPrincipal",
            "sasl.serverconfig",
            "security.auth_to_local",
            "superUser",
            "audit.enable",
            "enforce.auth.enabled",
            "enforce.auth.schemes",
            "sessionRequireClientSASLAuth");

    private static final String SUPER_USER = "superUser.";

    private final Set<String> superUsers = new LinkedHashSet<>();
    private Optional<String> section = Optional.empty();
    private boolean keepsSaslFailed;
    private boolean removesHost;
    private boolean removesRealm;
    private String principalRules = "";
    private final Set<String> schemes = new LinkedHashSet<>();
    private String digestHash = ClientAuthConfig.NONE.digestHash();
    private boolean audit;
    private boolean enforced;
    private boolean enforcesSasl;

    static boolean has(String name) {
        return KEYS.contains(name) || name.startsWith(SUPER_USER);
    }

    /**
     * Takes a line.
     *
     * @param key as it was written
     * @throws ConfigException if the value is not one that the key can have
     */
    void set(String name, String key, String value) {
        switch (name) {
            case "DigestAuthenticationProvider.digestAlg" -> digestHash(key, value);
            case "audit.enable" -> audit = truth(key, value);
            case "enforce.auth.enabled" -> enforced = truth(key, value);
            case "enforce.auth.schemes" -> schemes(key, value);
            case "sessionRequireClientSASLAuth" -> enforcesSasl = truth(key, value);
            case "allowSaslFailedClients" -> keepsSaslFailed = truth(key, value);
            case "kerberos.removeHostFromPrincipal" -> removesHost = truth(key, value);
            case "kerberos.removeRealmFromPrincipal" -> removesRealm = truth(key, value);
            case "security.auth_to_local" -> principalRules = ValueRule.requireFilled(key, value);
            case "sasl.serverconfig" -> section = Optional.of(ValueRule.requireFilled(key, value));
            default -> superUsers.add(ValueRule.requireFilled(key, value));
        }
    }

    private void digestHash(String key, String value) {
        try {
            digestHash = new DigestHash(value).algorithm();
        } catch (IllegalArgumentException e) {
            throw new ConfigException("key " + key + ": " + e.getMessage(), e);
        }
    }

    private static boolean truth(String key, String value) {
        ValueRule.TRUTH.check(key, value);
        return Boolean.parseBoolean(value);
    }

    private void schemes(String key, String value) {
        for (String scheme : value.split(",", -1)) {
            if (scheme.isBlank()) {
                throw new ConfigException("key " + key + ": \"" + value
                        + "\" is not a list of schemes with a comma between two of them, such as digest,sasl");
            }
            schemes.add(scheme.strip());
        }
    }

    /** As ZooKeeper does it: {@code sessionRequireClientSASLAuth} goes before the other two. */
    ClientAuthConfig read() {
        if (enforced && !enforcesSasl && schemes.isEmpty()) {
            throw new ConfigException("enforce.auth.enabled=true needs enforce.auth.schemes, such as sasl");
        }
        Set<String> inForce = enforcesSasl ? Set.of(IdScheme.SASL.word()) : enforced ? schemes : Set.of();
        return new ClientAuthConfig(
                digestHash,
                inForce,
                keepsSaslFailed,
                superUsers,
                section,
                removesHost,
                removesRealm,
                audit,
                principalRules);
    }
}
