package io.conclave.connection;

import io.conclave.tree.AuthId;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Who the clients of a server are, and what each must prove.
 *
 * @param superUser what proves to be the user that may do everything
 * @param digest the hash of the scheme digest
 * @param enforcedSchemes a connection must have proved an id of one of these; none if it is empty
 * @param sasl what a SASL exchange is made with; empty if this server has no SASL
 * @param keepsSaslFailed whether a client stays connected whose SASL exchange has failed, without an id of it
 * @param offersSchemes whether all members understand ids of the schemes sasl and x509; from any thread
 * @param audit where changes are written down
 */
public record ClientSecurity(
        SuperUser superUser,
        DigestHash digest,
        Set<String> enforcedSchemes,
        Optional<SaslService> sasl,
        boolean keepsSaslFailed,
        BooleanSupplier offersSchemes,
        AuditLog audit) {
    /** Clients need to prove nothing, and only digest is there to prove anything. */
    public static final ClientSecurity NONE = new ClientSecurity(
            SuperUser.NONE, DigestHash.SHA1, Set.of(), Optional.empty(), false, () -> true, AuditLog.OFF);

    /** Whether a connection with these ids may send requests; the super user always may. */
    boolean admits(List<AuthId> ids) {
        return enforcedSchemes.isEmpty()
                || ids.stream().anyMatch(id -> id.equals(AuthId.SUPER) || enforcedSchemes.contains(id.scheme()));
    }
}
