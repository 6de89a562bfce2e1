package io.conclave.connection;

import io.conclave.protocol.AclRecord;
import io.conclave.protocol.CreateFlag;
import io.conclave.protocol.ErrorCode;
import io.conclave.protocol.RequestBody;
import io.conclave.tree.AuthId;
import io.conclave.tree.IdScheme;
import io.conclave.tree.Quota;
import io.conclave.tree.TreeState;
import io.conclave.tree.Znode;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What bounds a write of one connection before it is proposed. Only the server that was asked looks: what is in the log
 * is applied by all members alike. Belongs to the connection's loop.
 */
final class WriteLimits {
    /** What an entry of a list takes beside its strings. */
    private static final int ENTRY_BYTES = 12;

    /** The number behind the name of a sequential znode has ten digits, and a sign at most. */
    private static final int SUFFIX_BYTES = 11;

    /** For so many lists of the longest kind {@code auth} may stand in one request. */
    private static final int AUTH_LISTS = 128;

    /**
     * A full state has so much more room for ephemeral znodes, as a part of its bound: consumers that empty it need
     * places in line and claims.
     */
    private static final int EPHEMERAL_PART = 16;

    /**
     * The part for containers that lies in that, too. One that never has a child stays for good, so containers must
     * leave room for those who have a session.
     */
    private static final int CONTAINER_PART = 2 * EPHEMERAL_PART;

    private final ClientConnection connection;
    private final LimitGuard guard;
    private final Supplier<TreeState> replicated;
    private final BooleanSupplier offersSchemes;

    /** Ephemerals that the present request creates, and those of all requests that are on their way. */
    private int ephemeralsOfRequest;

    private int ephemeralsUnderWay;

    /** What {@code auth} stands for in the ACLs of the present request; the same one behind itself counts once. */
    private long authBytesOfRequest;

    private List<AclRecord> aclBefore = AclRecord.OPEN;

    WriteLimits(ClientConnection connection, ConnectionServices services) {
        this.connection = connection;
        this.guard = services.guard();
        this.replicated = services.replicated();
        this.offersSchemes = services.security().offersSchemes();
    }

    /** Another request comes. */
    void begin() {
        ephemeralsOfRequest = 0;
        authBytesOfRequest = 0;
        aclBefore = AclRecord.OPEN;
    }

    /** The error of a write, or of a part of the present request, that meets a limit; 0 if it meets none. */
    int refusalOf(RequestBody write) {
        byte[] data = write instanceof RequestBody.SetData set ? set.data() : null;
        return refusalOf(write, data == null ? 0 : data.length);
    }

    /**
     * The same of a write whose data may be left out.
     *
     * @param dataBytes of a new value
     */
    int refusalOf(RequestBody write, int dataBytes) {
        if (write instanceof RequestBody.Create create) {
            return refusalOf(create);
        }
        if (write instanceof RequestBody.SetAcl set) {
            int error = refusalOfAcl(set.acl());
            return error == 0 && isFull() ? refusalOfGrowth("an ACL") : error;
        }
        return write instanceof RequestBody.SetData set && isFull() && grows(set.path(), dataBytes)
                ? refusalOfGrowth("data")
                : 0;
    }

    private int refusalOf(RequestBody.Create create) {
        int error = refusalOfPath(create);
        if (error == 0) {
            error = refusalOfAcl(create.acl());
        }
        if (error == 0) {
            error = refusalOfEphemeral(create);
        }
        if (error == 0) {
            error = isFull(create) ? refusalOfGrowth("a create") : refusalOfCount(create.path());
        }
        return error;
    }

    /**
     * A new quota has its subtree counted, in one step of all members. How large it is at most, the whole state says.
     */
    private int refusalOfCount(String path) {
        if (!Quota.isCountedBehind(path)) {
            return 0;
        }
        long nodes = replicated.get().nodeCount();
        if (guard.quotaCounts().spend(nodes)) {
            return 0;
        }
        guard.refused(
                ClientLimit.QUOTA_COUNTS,
                "a quota of " + connection + ": up to " + nodes + " znodes would be counted, behind others just now");
        return ErrorCode.THROTTLED.code();
    }

    /**
     * The request was not refused and is proposed.
     *
     * @return to be run when its outcome is known
     */
    Runnable proposed() {
        int ephemerals = ephemeralsOfRequest;
        if (ephemerals == 0) {
            return () -> {};
        }
        ephemeralsUnderWay += ephemerals;
        return () -> ephemeralsUnderWay -= ephemerals;
    }

    /**
     * A full state may shrink but not grow. Which state is asked makes no difference to what the members have: this
     * only decides what is proposed. Some requests that are under way may still come behind the last one that fits.
     */
    boolean isFull() {
        return isFullBeyond(0);
    }

    boolean isFull(RequestBody.Create create) {
        Optional<CreateFlag> flag = CreateFlag.lookup(create.flags());
        long most = guard.limits().most(ClientLimit.STATE_BYTES);
        if (flag.filter(CreateFlag::isEphemeral).isPresent()) {
            return isFullBeyond(most / EPHEMERAL_PART);
        }
        return isFullBeyond(flag.filter(CreateFlag::isContainer).isPresent() ? most / CONTAINER_PART : 0);
    }

    private boolean isFullBeyond(long moreBytes) {
        return !guard.allows(ClientLimit.STATE_BYTES, replicated.get().approximateHeapBytes() - moreBytes);
    }

    private int refusalOfGrowth(String what) {
        long bytes = replicated.get().approximateHeapBytes();
        guard.refused(
                ClientLimit.STATE_BYTES,
                what + " of " + connection + " (deletions are not refused): the state takes " + bytes + " bytes");
        return ErrorCode.QUOTA_EXCEEDED.code();
    }

    private boolean grows(String path, int dataBytes) {
        return dataBytes > 0
                && dataBytes > replicated.get().znode(path).map(Znode::data).orElse(new byte[0]).length;
    }

    /** The loop's state and what is under way change in the same moment, so nothing is counted twice. */
    private int refusalOfEphemeral(RequestBody.Create create) {
        if (CreateFlag.lookup(create.flags()).filter(CreateFlag::isEphemeral).isEmpty()) {
            return 0;
        }
        ephemeralsOfRequest++;
        long ephemerals = ephemeralsUnderWay
                + ephemeralsOfRequest
                + (long) connection
                        .loop()
                        .state()
                        .session(connection.sessionId())
                        .map(session -> session.ephemerals().size())
                        .orElse(0);
        if (guard.allows(ClientLimit.EPHEMERALS_OF_SESSION, ephemerals)) {
            return 0;
        }
        guard.refused(
                ClientLimit.EPHEMERALS_OF_SESSION,
                "a create of " + connection + ": its session would have " + ephemerals + " ephemeral znodes");
        return ErrorCode.QUOTA_EXCEEDED.code();
    }

    private int refusalOfPath(RequestBody.Create create) {
        String path = create.path();
        boolean sequential = CreateFlag.lookup(create.flags())
                .filter(CreateFlag::isSequential)
                .isPresent();
        if (sequential && !guard.allows(ClientLimit.PATH_BYTES, utf8Bytes(path) + SUFFIX_BYTES)) {
            guard.refused(
                    ClientLimit.PATH_BYTES,
                    "a create of " + connection + ": its path with its number would have "
                            + (utf8Bytes(path) + SUFFIX_BYTES) + " bytes");
            return ErrorCode.BAD_ARGUMENTS.code();
        }
        int depth = depthOf(path);
        if (!guard.allows(ClientLimit.PATH_DEPTH, depth)) {
            guard.refused(ClientLimit.PATH_DEPTH, "a create of " + connection + ": its path has " + depth + " names");
            return ErrorCode.BAD_ARGUMENTS.code();
        }
        return 0;
    }

    private static int depthOf(String path) {
        int depth = 0;
        for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
            depth++;
        }
        return depth;
    }

    /** Of strings that came as UTF-8, so that surrogates are in pairs. */
    private static long utf8Bytes(String text) {
        long bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    private int refusalOfAcl(List<AclRecord> acl) {
        if (acl.equals(AclRecord.OPEN) || acl.equals(aclBefore)) {
            return 0;
        }
        long bytes = 0;
        long authBytes = 0;
        long idBytes = bytesOf(connection.authIds());
        for (AclRecord entry : acl) {
            if (IdScheme.of(entry.scheme()).filter(scheme -> !scheme.isOld()).isPresent()
                    && !offersSchemes.getAsBoolean()) {
                return ErrorCode.INVALID_ACL.code();
            }
            if (entry.scheme().equals("auth")) {
                authBytes += idBytes;
            } else {
                bytes += ENTRY_BYTES + utf8Bytes(entry.scheme()) + utf8Bytes(entry.id());
            }
        }
        bytes += authBytes;
        authBytesOfRequest += authBytes;
        aclBefore = acl;
        if (!guard.allows(ClientLimit.ACL_BYTES, bytes)) {
            guard.refused(ClientLimit.ACL_BYTES, "an ACL of " + connection + ": it has " + bytes + " bytes");
            return ErrorCode.INVALID_ACL.code();
        }
        if (!guard.allows(ClientLimit.ACL_BYTES, authBytesOfRequest / AUTH_LISTS)) {
            guard.refused(
                    ClientLimit.ACL_BYTES,
                    "a multi of " + connection + ": auth stands for " + authBytesOfRequest + " bytes in its ACLs, and "
                            + AUTH_LISTS + " ACLs are the most");
            return ErrorCode.INVALID_ACL.code();
        }
        return 0;
    }

    /** Whether a connection may have these ids; if not, the refusal is counted and logged. */
    boolean admits(List<AuthId> ids) {
        long bytes = bytesOf(ids);
        if (guard.allows(ClientLimit.AUTH_BYTES, bytes)) {
            return true;
        }
        guard.refused(
                ClientLimit.AUTH_BYTES,
                "the authentication of " + connection + ": its ids would have " + bytes + " bytes");
        return false;
    }

    private static long bytesOf(List<AuthId> ids) {
        long bytes = 0;
        for (AuthId id : ids) {
            bytes += ENTRY_BYTES + utf8Bytes(id.scheme()) + utf8Bytes(id.id());
        }
        return bytes;
    }
}
