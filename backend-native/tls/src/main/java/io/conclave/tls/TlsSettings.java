package io.conclave.tls;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How one end of connections uses TLS. Immutable; a text of it has no secret.
 *
 * @param keyPrefix what the keys of the configuration begin with, for errors: {@code ssl.} or {@code ssl.quorum.}
 * @param keyStore the own key and certificates; a server must have one
 * @param trustStore the authorities that certificates of others must come from; a client without one takes those of
 *     Java
 * @param protocols the versions of TLS that are offered
 * @param cipherSuites those that are offered; empty means those of Java
 * @param clientAuthentication whether a server asks for certificates
 * @param verifiesServerNames whether the certificate of a server must be for the host that was called
 * @param verifiesClientAddresses whether the certificate of a client must be for the address that it calls from
 * @param checksCrl whether lists of revoked certificates are asked for
 * @param checksOcsp whether the authority is asked if a certificate was revoked
 * @param handshakeTimeout how long a handshake may take
 */
public record TlsSettings(
        String keyPrefix,
        Optional<StoreFile> keyStore,
        Optional<StoreFile> trustStore,
        List<String> protocols,
        List<String> cipherSuites,
        ClientAuthentication clientAuthentication,
        boolean verifiesServerNames,
        boolean verifiesClientAddresses,
        boolean checksCrl,
        boolean checksOcsp,
        Duration handshakeTimeout) {
    public static final List<String> DEFAULT_PROTOCOLS = List.of("TLSv1.3", "TLSv1.2");

    public TlsSettings {
        protocols = List.copyOf(protocols);
        cipherSuites = List.copyOf(cipherSuites);
    }

    boolean checksRevocation() {
        return checksCrl || checksOcsp;
    }

    /** No stores, TLS 1.3 and 1.2, certificates of clients needed, names of servers verified. */
    public static Builder builder(String keyPrefix) {
        return new Builder(keyPrefix);
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private final String keyPrefix;
        private Optional<StoreFile> keyStore = Optional.empty();
        private Optional<StoreFile> trustStore = Optional.empty();
        private List<String> protocols = DEFAULT_PROTOCOLS;
        private List<String> cipherSuites = List.of();
        private ClientAuthentication clientAuthentication = ClientAuthentication.NEED;
        private boolean verifiesServerNames = true;
        private boolean verifiesClientAddresses;
        private boolean checksCrl;
        private boolean checksOcsp;
        private Duration handshakeTimeout = Duration.ofSeconds(10);

        private Builder(String keyPrefix) {
            this.keyPrefix = keyPrefix;
        }

        public Builder keyStore(StoreFile value) {
            keyStore = Optional.of(value);
            return this;
        }

        public Builder trustStore(StoreFile value) {
            trustStore = Optional.of(value);
            return this;
        }

        public Builder protocols(List<String> value) {
            protocols = value;
            return this;
        }

        public Builder cipherSuites(List<String> value) {
            cipherSuites = value;
            return this;
        }

        public Builder clientAuthentication(ClientAuthentication value) {
            clientAuthentication = value;
            return this;
        }

        public Builder verifiesServerNames(boolean value) {
            verifiesServerNames = value;
            return this;
        }

        public Builder verifiesClientAddresses(boolean value) {
            verifiesClientAddresses = value;
            return this;
        }

        public Builder checksCrl(boolean value) {
            checksCrl = value;
            return this;
        }

        public Builder checksOcsp(boolean value) {
            checksOcsp = value;
            return this;
        }

        public Builder handshakeTimeout(Duration value) {
            handshakeTimeout = value;
            return this;
        }

        public TlsSettings build() {
            return new TlsSettings(
                    keyPrefix,
                    keyStore,
                    trustStore,
                    protocols,
                    cipherSuites,
                    clientAuthentication,
                    verifiesServerNames,
                    verifiesClientAddresses,
                    checksCrl,
                    checksOcsp,
                    handshakeTimeout);
        }
    }
}
