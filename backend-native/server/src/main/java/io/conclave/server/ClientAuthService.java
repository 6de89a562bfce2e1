package io.conclave.server;

import io.conclave.connection.AuditLine;
import io.conclave.connection.AuditLog;
import io.conclave.connection.ClientSecurity;
import io.conclave.connection.Refusals;
import io.conclave.connection.SuperUser;
import io.conclave.tree.IdScheme;
import io.conclave.tree.TreeState;
import java.util.Optional;
import java.util.function.Supplier;

/** What a server has to find out who its clients are, and to write down what they do. Thread-safe. */
final class ClientAuthService {
    private final ServerConfig config;
    private final Optional<SaslLogins> sasl;
    private final AuditLog audit;

    /**
     * Logs in, if the JAAS file says so. Blocks. A server without a port is inside an application: it has no SASL, for
     * the file is the application's.
     *
     * @param refused told of credentials that prove nothing
     * @throws ServerStartException if the JAAS file cannot be used
     */
    ClientAuthService(ServerConfig config, Refusals refused) {
        this.config = config;
        this.sasl = config.clientPort().isPresent() ? SaslLogins.of(config.clientAuth(), refused) : Optional.empty();
        this.audit = config.clientAuth().audit() ? AuditLog.start() : AuditLog.OFF;
    }

    /** @param state the newest one */
    ClientSecurity security(Optional<AdminSecret> secret, Supplier<TreeState> state) {
        return new ClientSecurity(
                new SuperUser(secret.map(AdminSecret::value), config.superDigest()),
                config.clientAuth().hash(),
                config.clientAuth().enforcedSchemes(),
                sasl.map(logins -> logins),
                config.clientAuth().keepsSaslFailed(),
                new LevelInForce(IdScheme.FEATURE_LEVEL, state),
                audit);
    }

    /** The server has started, or failed to. */
    void started(boolean successfully) {
        audit.write(() ->
                AuditLine.ofServer("serverStart", successfully ? AuditLine.Result.SUCCESS : AuditLine.Result.FAILURE));
    }

    /** The server ends. Blocks for two seconds at most. */
    void close() {
        audit.write(() -> AuditLine.ofServer("serverStop", AuditLine.Result.INVOKED));
        audit.close();
        sasl.ifPresent(SaslLogins::close);
    }
}
