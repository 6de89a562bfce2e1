package io.conclave.connection;

import io.conclave.protocol.ConnectionRequest;
import io.conclave.protocol.ErrorCode;
import io.conclave.tree.AuthId;
import java.util.ArrayList;
import java.util.List;

/** Takes what a client proves of itself. Belongs to the connection's loop. */
final class Authenticator {
    private static final int LONGEST_SCHEME = 100;

    private final ClientConnection connection;
    private final ClientSecurity security;
    private final WriteLimits limits;
    private final Refusals refused;

    /** @param refused told of credentials that prove nothing */
    Authenticator(ClientConnection connection, ClientSecurity security, WriteLimits limits, Refusals refused) {
        this.connection = connection;
        this.security = security;
        this.limits = limits;
        this.refused = refused;
    }

    void authenticate(int xid, ConnectionRequest.Auth request) {
        List<AuthId> proved = AuthVerifier.verify(request, connection.authIds(), security);
        if (proved.isEmpty()) {
            refused.add(connection, "of the scheme " + schemeOf(request) + " they prove nothing");
        }
        if (proved.isEmpty() || !add(proved)) {
            connection.replyOutsideState(xid, ErrorCode.AUTH_FAILED);
            connection.closeAfterOutput();
            return;
        }
        connection.replyOutsideState(xid, ErrorCode.OK);
    }

    private static String schemeOf(ConnectionRequest.Auth request) {
        String scheme = request.scheme();
        return AuditLine.escaped(scheme.length() > LONGEST_SCHEME ? scheme.substring(0, LONGEST_SCHEME) : scheme);
    }

    /** Adds ids to those of the connection; false if there are too many. */
    boolean add(List<AuthId> proved) {
        List<AuthId> ids = new ArrayList<>(connection.authIds());
        proved.stream().filter(id -> !ids.contains(id)).forEach(ids::add);
        if (!limits.admits(ids)) {
            return false;
        }
        connection.authIds(ids);
        return true;
    }
}
