package io.conclave.client;

import io.conclave.session.Authentication;
import io.conclave.tls.Reasons;
import java.nio.charset.StandardCharsets;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.Map;
import java.util.Optional;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.auth.login.LoginException;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslException;
import org.jspecify.annotations.Nullable;

/** The client's side of one SASL exchange, by the JDK. Blocks; one thread at a time. */
final class SaslProof {
    private static final String SERVICE = "zookeeper";
    private static final String DIGEST_SERVER = "zk-sasl-md5";
    private static final String JAAS_FILE = "java.security.auth.login.config";
    private static final String USERS_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule";

    private final SaslClient mechanism;
    private final Optional<Subject> subject;

    private SaslProof(SaslClient mechanism, Optional<Subject> subject) {
        this.mechanism = mechanism;
        this.subject = subject;
    }

    static boolean isFor(Authentication authentication) {
        return authentication.scheme().equals(Authentication.SASL);
    }

    /**
     * Begins one; logs in at Kerberos, if the credentials say so.
     *
     * @param host the server's
     * @throws SaslException if that is not possible; the message has no secret
     */
    static SaslProof begin(Authentication authentication, String host) throws SaslException {
        String[] words = new String(authentication.credentials(), StandardCharsets.UTF_8).split("\0", 3);
        return switch (words[0]) {
            case Authentication.DIGEST_MD5 -> digest(words[1], words[2]);
            case Authentication.SECTION -> ofSection(words[1], host);
            default -> throw new SaslException("the credentials are not those of Authentication.sasl...");
        };
    }

    private static SaslProof ofSection(String section, String host) throws SaslException {
        AppConfigurationEntry @Nullable [] entries;
        try {
            entries = Configuration.getConfiguration().getAppConfigurationEntry(section);
        } catch (SecurityException e) {
            String file = System.getProperty(JAAS_FILE, "");
            throw new SaslException(
                    "the JAAS file (" + JAAS_FILE + "=" + file + ") cannot be read: " + Reasons.ofJaasFile(e, file));
        }
        if (entries == null) {
            throw new SaslException("the JAAS file has no section " + section);
        }
        for (AppConfigurationEntry entry : entries) {
            if (entry.getLoginModuleName().equals(USERS_MODULE)) {
                Object user = entry.getOptions().get("username");
                Object password = entry.getOptions().get("password");
                if (user == null || password == null) {
                    throw new SaslException("the section " + section + " needs username and password");
                }
                return digest(user.toString(), password.toString());
            }
        }
        return kerberos(section, host);
    }

    private static SaslProof digest(String user, String password) throws SaslException {
        return new SaslProof(
                mechanism("DIGEST-MD5", DIGEST_SERVER, callbacks -> answer(callbacks, user, password)),
                Optional.empty());
    }

    private static void answer(Callback[] callbacks, String user, String password) throws UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback name) {
                name.setName(user);
            } else if (callback instanceof PasswordCallback secret) {
                secret.setPassword(password.toCharArray());
            } else if (callback instanceof RealmCallback realm) {
                realm.setText(realm.getDefaultText());
            } else {
                throw new UnsupportedCallbackException(callback);
            }
        }
    }

    private static SaslProof kerberos(String section, String host) throws SaslException {
        try {
            LoginContext login = new LoginContext(section);
            login.login();
            Subject subject = login.getSubject();
            SaslClient mechanism = as(subject, () -> mechanism("GSSAPI", host, callbacks -> answer(callbacks, "", "")));
            return new SaslProof(mechanism, Optional.of(subject));
        } catch (LoginException e) {
            throw new SaslException("the login of the section " + section + " has failed: " + e.getMessage(), e);
        }
    }

    private static SaslClient mechanism(String name, String server, CallbackHandler handler) throws SaslException {
        SaslClient mechanism = Sasl.createSaslClient(new String[] {name}, null, SERVICE, server, Map.of(), handler);
        if (mechanism == null) {
            throw new SaslException("this Java does not have the mechanism " + name);
        }
        return mechanism;
    }

    private static <T> T as(Subject subject, PrivilegedExceptionAction<T> action) throws SaslException {
        try {
            return Subject.doAs(subject, action);
        } catch (PrivilegedActionException e) {
            throw e.getException() instanceof SaslException failure
                    ? failure
                    : new SaslException(e.getException().toString(), e.getException());
        }
    }

    /** The first token; that of DIGEST-MD5 is empty. */
    byte[] first() throws SaslException {
        byte[] nothing = new byte[0];
        byte @Nullable [] token = mechanism.hasInitialResponse() ? next(nothing) : nothing;
        return token == null ? nothing : token;
    }

    /** The answer to a token of the server; null if there is none. */
    byte @Nullable [] next(byte[] token) throws SaslException {
        return subject.isPresent()
                ? as(subject.get(), () -> mechanism.evaluateChallenge(token))
                : mechanism.evaluateChallenge(token);
    }

    /** Whether the client has nothing more to say, and knows the server. */
    boolean isComplete() {
        return mechanism.isComplete();
    }
}
