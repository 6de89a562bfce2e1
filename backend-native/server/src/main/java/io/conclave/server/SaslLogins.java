package io.conclave.server;

import io.conclave.connection.AuditLine;
import io.conclave.connection.Refusals;
import io.conclave.connection.SaslService;
import io.conclave.node.Bytes;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.kerberos.KerberosPrincipal;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.RealmCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslException;
import javax.security.sasl.SaslServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server's side of SASL, by the JDK: DIGEST-MD5 with the users of the JAAS file, and GSSAPI with the login of the
 * server. Which one it is, the client's first token says: that of DIGEST-MD5 is empty. All steps run on two threads, so
 * that no event loop waits for Kerberos. Thread-safe.
 */
final class SaslLogins implements SaslService {
    private static final Logger LOG = LoggerFactory.getLogger(SaslLogins.class);
    private static final String DEFAULT_SECTION = "Server";
    private static final String DIGEST_PROTOCOL = "zookeeper";
    private static final String DIGEST_SERVER = "zk-sasl-md5";
    private static final int THREADS = 2;
    private static final AtomicInteger THREAD_COUNT = new AtomicInteger();

    private final ClientAuthConfig config;
    private final PrincipalRules rules;
    private final JaasSection section;
    private final Refusals refused;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, SaslLogins::thread);

    private SaslLogins(ClientAuthConfig config, JaasSection section, Refusals refused) {
        this.config = config;
        this.rules = config.rules();
        this.section = section;
        this.refused = refused;
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "conclave-sasl-" + THREAD_COUNT.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    }

    /**
     * What the JAAS file says. Blocks.
     *
     * @param refused told of logins that have failed
     * @return empty if it has no section for a server
     * @throws ServerStartException if the file cannot be used, or has no such section although the configuration
     *     asks for SASL
     */
    static Optional<SaslLogins> of(ClientAuthConfig config, Refusals refused) {
        String name = config.saslSection().orElse(DEFAULT_SECTION);
        Optional<JaasSection> section = JaasSection.read(name);
        boolean needed =
                config.saslSection().isPresent() || config.enforcedSchemes().contains(IdScheme.SASL.word());
        if (section.isEmpty() && needed) {
            throw new ServerStartException("SASL is configured, but the JAAS file (java.security.auth.login.config="
                    + System.getProperty("java.security.auth.login.config") + ") has no section " + name);
        }
        return section.map(found -> new SaslLogins(config, found, refused));
    }

    void close() {
        threads.shutdown();
    }

    @Override
    public Exchange begin(String client) {
        return new OneExchange(client);
    }

    /**
     * The connection makes one step after the other, so the threads of the service do too. If it ends while a step is
     * under way, that step frees the mechanism when it is done, so that no thread waits.
     */
    private final class OneExchange implements Exchange {
        private final String client;

        // All: @GuardedBy("this").
        private @Nullable SaslServer mechanism;
        private boolean stepping;
        private boolean ended;

        OneExchange(String client) {
            this.client = client;
        }

        @Override
        public void step(byte[] token, Consumer<Outcome> then) {
            try {
                threads.execute(() -> {
                    Outcome outcome = Outcome.FAILED;
                    try {
                        outcome = outcomeOf(token);
                    } finally { // the connection waits, whatever has happened
                        then.accept(outcome);
                    }
                });
            } catch (RejectedExecutionException e) {
                then.accept(Outcome.FAILED);
            }
        }

        @Override
        public void end() {
            synchronized (this) {
                ended = true;
                if (stepping) {
                    return;
                }
            }
            try {
                threads.execute(this::dispose);
            } catch (RejectedExecutionException e) {
                dispose(); // the server ends
            }
        }

        private Outcome outcomeOf(byte[] token) {
            synchronized (this) {
                if (ended) {
                    return Outcome.FAILED;
                }
                stepping = true;
            }
            try {
                return outcomeOfStep(token);
            } finally {
                boolean last;
                synchronized (this) {
                    stepping = false;
                    last = ended;
                }
                if (last) {
                    dispose();
                }
            }
        }

        private Outcome outcomeOfStep(byte[] token) {
            try {
                return section.subject().isPresent()
                        ? Subject.doAs(
                                section.subject().get(), (PrivilegedExceptionAction<Outcome>) () -> evaluate(token))
                        : evaluate(token);
            } catch (PrivilegedActionException e) {
                return failure(e.getException());
            } catch (SaslException | RuntimeException | StackOverflowError e) { // a token may be nested deeply
                return failure(e);
            }
        }

        /** What a mechanism throws names users and reasons, never a password. */
        private Outcome failure(Throwable e) {
            Throwable cause = e.getCause();
            String reason = e.getMessage() + (cause == null ? "" : " (" + cause.getMessage() + ")");
            refused.add(client, "SASL has failed: " + AuditLine.escaped(AuditLine.cut(reason)));
            dispose();
            return Outcome.FAILED;
        }

        private void dispose() {
            SaslServer unused;
            synchronized (this) {
                unused = mechanism;
                mechanism = null;
            }
            try {
                if (unused != null) {
                    unused.dispose();
                }
            } catch (SaslException e) {
                LOG.debug("A mechanism of SASL cannot be disposed of: {}", e.getMessage());
            }
        }

        private SaslServer mechanism(byte[] token) throws SaslException {
            synchronized (this) {
                if (mechanism != null) {
                    return mechanism;
                }
            }
            SaslServer made = mechanismFor(token);
            synchronized (this) {
                mechanism = made;
            }
            return made;
        }

        private Outcome evaluate(byte[] token) throws SaslException {
            SaslServer present = mechanism(token);
            byte[] answer = present.evaluateResponse(token);
            if (!present.isComplete()) {
                return new Outcome(false, bytes(answer), List.of());
            }
            String user = present.getAuthorizationID();
            dispose();
            AuthId id = new AuthId(IdScheme.SASL.word(), user);
            boolean isSuper = config.superUsers().contains(user);
            LOG.debug("SASL: {} is {}", client, AuditLine.escaped(user));
            return new Outcome(false, bytes(answer), isSuper ? List.of(AuthId.SUPER, id) : List.of(id));
        }
    }

    private static Optional<Bytes> bytes(byte @Nullable [] token) {
        return Optional.ofNullable(token).map(Bytes::copyOf);
    }

    private SaslServer mechanismFor(byte[] firstToken) throws SaslException {
        Optional<KerberosPrincipal> principal = section.principal();
        SaslServer mechanism;
        if (firstToken.length == 0 && section.hasUsers()) {
            mechanism = Sasl.createSaslServer(
                    "DIGEST-MD5", DIGEST_PROTOCOL, DIGEST_SERVER, Map.of(), this::answerCallbacks);
        } else if (firstToken.length > 0 && principal.isPresent()) {
            PrincipalName name = PrincipalName.of(principal.get().getName());
            mechanism = Sasl.createSaslServer(
                    "GSSAPI", name.user(), name.host().orElse(null), Map.of(), this::answerCallbacks);
        } else {
            throw new SaslException("the JAAS file has "
                    + (firstToken.length == 0 ? "no users for DIGEST-MD5" : "no login for GSSAPI"));
        }
        if (mechanism == null) {
            throw new SaslException("this Java does not have the mechanism");
        }
        return mechanism;
    }

    private void answerCallbacks(Callback[] callbacks) throws UnsupportedCallbackException {
        String user = null;
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback name) {
                user = name.getDefaultName();
                name.setName(user);
            } else if (callback instanceof PasswordCallback password) {
                password.setPassword(user == null ? null : section.password(user));
            } else if (callback instanceof RealmCallback realm) {
                realm.setText(realm.getDefaultText());
            } else if (callback instanceof AuthorizeCallback authorize) {
                // the client gets the id that it has proved, and not the one that it asks to act for
                authorize.setAuthorizedID(idOf(authorize.getAuthenticationID()));
                authorize.setAuthorized(true);
            } else {
                throw new UnsupportedCallbackException(callback);
            }
        }
    }

    private String idOf(String authenticated) {
        return PrincipalName.of(authenticated)
                .id(
                        rules,
                        config.removesHost(),
                        config.removesRealm(),
                        section.principal().map(KerberosPrincipal::getRealm));
    }
}
