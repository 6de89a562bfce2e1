package io.conclave.connection;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import io.conclave.tree.PermissionBits;
import io.conclave.tree.Result;
import io.conclave.tree.TreeEvent;
import java.net.InetAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Says in the audit log what the clients of a server have changed, or tried to change. Thread-safe. */
final class Audit {
    /**
     * The client that asked.
     *
     * @param address where it is; null inside the JVM
     * @param ids what it had proved when it asked
     */
    record Client(long sessionId, @Nullable InetAddress address, List<AuthId> ids) {
        /** What each line of its request begins with. */
        private AuditLine line() {
            return new AuditLine()
                    .with("session", hex(sessionId))
                    .with("user", users())
                    .with("ip", address == null ? null : address.getHostAddress());
        }

        /** The super user has no name of its own, only that of the user who proved to be it. */
        private @Nullable String users() {
            String users = ids.stream()
                    .flatMap(id -> IdScheme.of(id.scheme()).map(scheme -> scheme.user(id.id())).stream())
                    .filter(user -> !user.isBlank())
                    .map(AuditLine::cut)
                    .collect(Collectors.joining(","));
            return users.isEmpty() ? null : users;
        }
    }

    private final AuditLog log;

    Audit(AuditLog log) {
        this.log = log;
    }

    private static String hex(long sessionId) {
        return "0x" + Long.toHexString(sessionId);
    }

    /** A write was applied. */
    void applied(Client client, RequestBody request, Result result) {
        if (!log.isOn()) {
            return;
        }
        if (result instanceof Result.Failed || result instanceof Result.MultiFailed) {
            failed(client, request);
        } else if (request instanceof RequestBody.Multi multi && result instanceof Result.MultiDone done) {
            AuditLine beginning = client.line();
            for (int part = 0; part < done.results().size(); part++) {
                succeeded(
                        beginning, multi.operations().get(part), done.results().get(part));
            }
        } else {
            succeeded(client.line(), request, result);
        }
    }

    private void succeeded(AuditLine beginning, RequestBody request, Result result) {
        String path = result instanceof Result.Created created ? created.path() : pathOf(request);
        writeLine(beginning, request, path, AuditLine.Result.SUCCESS);
    }

    /** A write was refused, by the tree or before. */
    void failed(Client client, RequestBody request) {
        if (log.isOn()) {
            writeLine(client.line(), request, pathOf(request), AuditLine.Result.FAILURE);
        }
    }

    private void writeLine(AuditLine beginning, RequestBody request, @Nullable String path, AuditLine.Result result) {
        String operation = operationOf(request);
        if (operation != null) {
            log.write(() -> new AuditLine(beginning)
                    .with("operation", operation)
                    .with("znode", path)
                    .with("znode_type", request instanceof RequestBody.Create create ? typeOf(create) : null)
                    .with("acl", request instanceof RequestBody.SetAcl set ? text(set.acl()) : null)
                    .end(result));
        }
    }

    /** A change of the members has ended. */
    void reconfigured(Client client, boolean done) {
        if (log.isOn()) {
            log.write(() -> client.line()
                    .with("operation", "reconfig")
                    .with("znode", done ? ReconfigRequests.CONFIG : null)
                    .end(done ? AuditLine.Result.SUCCESS : AuditLine.Result.FAILURE));
        }
    }

    /** A session has ended, with these events. */
    void sessionEnded(long sessionId, List<TreeEvent> events) {
        if (!log.isOn()) {
            return;
        }
        Set<String> deleted = new LinkedHashSet<>();
        for (TreeEvent event : events) {
            if (event.type() == TreeEvent.Type.DELETED && deleted.add(event.path())) {
                log.write(() -> new AuditLine()
                        .with("session", hex(sessionId))
                        .with("user", AuditLine.serverUser())
                        .with("operation", "ephemeralZNodeDeletionOnSessionCloseOrExpire")
                        .with("znode", event.path())
                        .end(AuditLine.Result.SUCCESS));
            }
        }
    }

    private static @Nullable String operationOf(RequestBody request) {
        return switch (request.opCode()) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL -> "create";
            case DELETE -> "delete";
            case SET_DATA -> "setData";
            case SET_ACL -> "setAcl";
            case MULTI -> "multiOperation";
            default -> null;
        };
    }

    private static @Nullable String pathOf(RequestBody request) {
        if (request instanceof RequestBody.Create create) {
            return create.path();
        }
        if (request instanceof RequestBody.Delete delete) {
            return delete.path();
        }
        if (request instanceof RequestBody.SetData set) {
            return set.path();
        }
        return request instanceof RequestBody.SetAcl set ? set.path() : null;
    }

    /** ZooKeeper's names of the modes. */
    private static @Nullable String typeOf(RequestBody.Create create) {
        return CreateFlag.lookup(create.flags())
                .map(flag -> switch (flag) {
                    case PERSISTENT, PERSISTENT_SEQUENTIAL, EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER ->
                        flag.name().toLowerCase(Locale.ROOT);
                    case TTL -> "persistent_with_ttl";
                    case TTL_SEQUENTIAL -> "persistent_sequential_with_ttl";
                })
                .orElse(null);
    }

    /** As ZooKeeper writes it, without a separator between the entries, but without the hashes of passwords. */
    private static String text(List<AclRecord> acl) {
        StringBuilder text = new StringBuilder();
        for (AclRecord entry : acl) {
            AuthId shown = new AuthId(entry.scheme(), entry.id()).shown();
            text.append(shown.scheme())
                    .append(':')
                    .append(AuditLine.cut(shown.id()))
                    .append(':')
                    .append(PermissionBits.letters(entry.perms()));
        }
        return text.toString();
    }
}
