package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.session.Authentication;
import io.conclave.session.TlsOptions;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Applies the properties to a builder. A value that breaks a rule is reported with the key that it came from. */
final class CoordinatorSettings {
    static final String CONNECT_STRING = "conclave.connect-string";

    private final ConclaveProperties properties;

    CoordinatorSettings(ConclaveProperties properties) {
        this.properties = properties;
    }

    CoordinatorBuilder builder(String connectString) {
        CoordinatorBuilder builder = checked(CONNECT_STRING, connectString, () -> Coordinator.builder(connectString));
        set("conclave.connect-timeout", properties.getConnectTimeout(), builder::connectTimeout);
        set("conclave.session-timeout", properties.getSessionTimeout(), builder::sessionTimeout);
        set("conclave.try-timeout", properties.getTryTimeout(), builder::tryTimeout);
        set("conclave.namespace", properties.getNamespace(), builder::namespace);
        set("conclave.max-queued-requests", properties.getMaxQueuedRequests(), builder::maxQueuedRequests);
        set("conclave.generation", properties.getGeneration(), builder::generation);
        builder.linearizableReads(properties.isLinearizableReads());
        builder.followEnsemble(properties.isFollowEnsemble());
        authenticate(builder);
        refuseWhatDoesNotCount();
        if (properties.getTls().isEnabled()) {
            builder.tls(tlsOptions(properties.getTls()));
        }
        return builder;
    }

    private void authenticate(CoordinatorBuilder builder) {
        ConclaveProperties.Digest digest = properties.getDigest();
        set(
                "conclave.digest.username",
                digest.getUsername(),
                user -> builder.authentication(
                        Authentication.digest(user, password("conclave.digest", digest.getPassword()))));
        ConclaveProperties.Sasl sasl = properties.getSasl();
        set(
                "conclave.sasl.username",
                sasl.getUsername(),
                user -> builder.authentication(
                        Authentication.saslDigestMd5(user, password("conclave.sasl", sasl.getPassword()))));
        set(
                "conclave.sasl.section",
                sasl.getSection(),
                section -> builder.authentication(Authentication.saslSection(section)));
    }

    /** An identity or an authority that was meant, and would not be used without a word. */
    private void refuseWhatDoesNotCount() {
        ConclaveProperties.Digest digest = properties.getDigest();
        if (digest.getUsername() == null && digest.getPassword() != null) {
            throw doesNotCount("conclave.digest.password", "conclave.digest.username");
        }
        ConclaveProperties.Sasl sasl = properties.getSasl();
        if (sasl.getUsername() == null && sasl.getPassword() != null) {
            throw doesNotCount("conclave.sasl.password", "conclave.sasl.username");
        }
        ConclaveProperties.Tls tls = properties.getTls();
        if (!tls.saysWhether() && tls.getTrustStore() != null) {
            throw doesNotCount("conclave.tls.trust-store", "conclave.tls.enabled");
        }
        if (!tls.saysWhether() && tls.getKeyStore() != null) {
            throw doesNotCount("conclave.tls.key-store", "conclave.tls.enabled");
        }
    }

    /** Under the name of the property that is missing, since Boot shows the value: that of the other may be secret. */
    private static InvalidConfigurationPropertyValueException doesNotCount(String key, String needed) {
        return new InvalidConfigurationPropertyValueException(
                needed, null, key + " is set, and counts only if " + needed + " is set as well");
    }

    private static String password(String prefix, @Nullable String password) {
        if (password == null) {
            throw new IllegalArgumentException("the user needs a password: set " + prefix + ".password");
        }
        return password;
    }

    private static TlsOptions tlsOptions(ConclaveProperties.Tls tls) {
        TlsOptions options = TlsOptions.defaults();
        if (tls.getTrustStore() != null) {
            options = tls.getTrustStorePassword() == null
                    ? options.trustStore(tls.getTrustStore())
                    : options.trustStore(tls.getTrustStore(), tls.getTrustStorePassword());
        }
        if (tls.getKeyStore() != null) {
            options = tls.getKeyStorePassword() == null
                    ? options.keyStore(tls.getKeyStore())
                    : options.keyStore(tls.getKeyStore(), tls.getKeyStorePassword());
        }
        return options.verifyHostnames(tls.isVerifyHostnames());
    }

    private static <T> void set(String key, @Nullable T value, Function<T, CoordinatorBuilder> setter) {
        if (value != null) {
            checked(key, value, () -> setter.apply(value));
        }
    }

    /** What the call gives; an argument that breaks a rule is reported as the value of the key. */
    static <R> R checked(String key, Object value, Supplier<R> call) {
        try {
            return call.get();
        } catch (IllegalArgumentException e) {
            InvalidConfigurationPropertyValueException invalid =
                    new InvalidConfigurationPropertyValueException(key, value, String.valueOf(e.getMessage()));
            invalid.addSuppressed(e); // it lets nobody set its cause
            throw invalid;
        }
    }
}
