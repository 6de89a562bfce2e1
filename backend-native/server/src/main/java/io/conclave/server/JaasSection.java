package io.conclave.server;

import io.conclave.tls.Reasons;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosPrincipal;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.auth.login.LoginException;
import org.jspecify.annotations.Nullable;

/**
 * What a section of the JAAS file says that a server needs: the users of DIGEST-MD5 with their passwords, and the
 * server's own login at Kerberos. ZooKeeper's module for the former is read and never loaded. Immutable.
 */
final class JaasSection {
    private static final String FILE_PROPERTY = "java.security.auth.login.config";
    private static final String USERS_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";
    private static final String KERBEROS_MODULE = "com.sun.security.auth.module.Krb5LoginModule";
    private static final String USER = "user_";

    private final Map<String, char[]> passwords;
    private final Optional<Subject> subject;

    private JaasSection(Map<String, char[]> passwords, Optional<Subject> subject) {
        this.passwords = passwords;
        this.subject = subject;
    }

    /**
     * Reads the section, and logs in at Kerberos if it says so. Blocks.
     *
     * @return empty if there is no such section
     * @throws ServerStartException if the file cannot be read, the section has another module, or the login fails
     */
    static Optional<JaasSection> read(String name) {
        AppConfigurationEntry @Nullable [] entries = entries(name);
        if (entries == null) {
            return Optional.empty();
        }
        Map<String, char[]> passwords = new HashMap<>();
        Optional<Subject> subject = Optional.empty();
        for (AppConfigurationEntry entry : entries) {
            switch (entry.getLoginModuleName()) {
                case USERS_MODULE -> passwords.putAll(usersOf(entry));
                case KERBEROS_MODULE -> subject = Optional.of(login(name, entry));
                default ->
                    throw new ServerStartException("the section " + name + " of the JAAS file has the module "
                            + entry.getLoginModuleName() + "; a server knows " + USERS_MODULE + " and "
                            + KERBEROS_MODULE);
            }
        }
        return Optional.of(new JaasSection(Collections.unmodifiableMap(passwords), subject));
    }

    private static AppConfigurationEntry @Nullable [] entries(String name) {
        try {
            return Configuration.getConfiguration().getAppConfigurationEntry(name);
        } catch (SecurityException e) {
            String file = System.getProperty(FILE_PROPERTY);
            if (file == null) {
                return null;
            }
            throw new ServerStartException("the JAAS file " + file + ", which " + FILE_PROPERTY
                    + " names, cannot be read: " + Reasons.ofJaasFile(e, file));
        }
    }

    private static Map<String, char[]> usersOf(AppConfigurationEntry entry) {
        Map<String, char[]> users = new HashMap<>();
        entry.getOptions().forEach((option, value) -> {
            if (option.startsWith(USER) && value instanceof String password) {
                users.put(option.substring(USER.length()), password.toCharArray());
            }
        });
        return users;
    }

    private static Subject login(String name, AppConfigurationEntry entry) {
        try {
            LoginContext context = new LoginContext(name, new Subject(), null, new Configuration() {
                @Override
                public AppConfigurationEntry[] getAppConfigurationEntry(String any) {
                    return new AppConfigurationEntry[] {entry};
                }
            });
            context.login();
            return context.getSubject();
        } catch (LoginException e) {
            throw new ServerStartException(
                    "the login of the section " + name + " of the JAAS file has failed: " + e.getMessage(), e);
        }
    }

    boolean hasUsers() {
        return !passwords.isEmpty();
    }

    /** A copy of the password of a user; null if there is no such user. */
    char @Nullable [] password(String user) {
        char[] password = passwords.get(user);
        return password == null ? null : password.clone();
    }

    /** The server's own login. */
    Optional<Subject> subject() {
        return subject;
    }

    /** Who the server is for Kerberos; empty without a login. */
    Optional<KerberosPrincipal> principal() {
        return subject.flatMap(
                login -> login.getPrincipals(KerberosPrincipal.class).stream().findFirst());
    }
}
