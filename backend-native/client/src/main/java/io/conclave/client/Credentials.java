package io.conclave.client;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.Xid;
import io.conclave.session.Authentication;
import java.util.List;
import java.util.Optional;

/** Proves to a server who the client is, over a connection whose handshake was answered. For the event loop only. */
final class Credentials {
    private final ServerReports reports;
    private final Optional<SaslHandshake> sasl;
    private final List<Authentication> others;

    Credentials(SessionParts parts, ServerReports reports, List<Authentication> all) {
        this.reports = reports;
        this.sasl = all.stream()
                .filter(SaslProof::isFor)
                .findFirst()
                .map(proof -> new SaslHandshake(parts, reports, proof));
        this.others = all.stream().filter(proof -> !SaslProof.isFor(proof)).toList();
    }

    /**
     * Sends them; a flush must follow.
     *
     * @param then what goes over the connection next: at once, or when the server has taken the proof by SASL, and
     *     never if the connection ends before
     */
    void sendOver(Connection opened, Runnable then) {
        if (sasl.isPresent()) {
            sasl.get().begin(opened, opened.host(), () -> sendOthers(opened, then));
        } else {
            sendOthers(opened, then);
        }
    }

    private void sendOthers(Connection opened, Runnable then) {
        reports.credentialsSent(others.stream().map(Authentication::scheme).toList());
        for (Authentication proof : others) {
            opened.sendSpecial(Xid.AUTH, new ConnectionRequest.Auth(0, proof.scheme(), proof.credentials()));
        }
        then.run();
    }
}
