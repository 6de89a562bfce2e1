package io.conclave.client;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.protocol.ErrorCode;

/** Translates error numbers of the wire into the kinds of failure, with the reason. */
final class ServerErrors {
    private ServerErrors() {}

    /** The failure of a request that the server answered with an error. */
    static ConclaveException failure(String request, int err) {
        return failure(request, err, -1);
    }

    /** The failure of a request, at one of its operations if the index is not negative. */
    static ConclaveException failure(String request, int err, int operationIndex) {
        String message = request + ": " + ErrorCode.describe(err) + hint(err);
        if (endsSession(err)) {
            return new SessionGoneException(message);
        }
        if (isOutcomeUnknown(err)) {
            return new OutcomeUnknownException(message);
        }
        return new RefusedException(reason(err), message, operationIndex);
    }

    private static String hint(int err) {
        return err == ErrorCode.UNIMPLEMENTED.code()
                ? ": the server does not offer it; znodes with a time to live need extendedTypesEnabled=true in its"
                        + " configuration, and an ensemble whose members all know them"
                : "";
    }

    /** Whether the error says that the session is gone. */
    static boolean endsSession(int err) {
        return err == ErrorCode.SESSION_EXPIRED.code() || err == ErrorCode.UNKNOWN_SESSION.code();
    }

    /** Whether the error says that the session must try another server. */
    static boolean endsConnection(int err) {
        return err == ErrorCode.SESSION_MOVED.code() || err == ErrorCode.CONNECTION_LOSS.code();
    }

    /** Whether the error says that the server answers no request of a client that has not proved more. */
    static boolean wantsCredentials(int err) {
        return err == ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH.code() || err == ErrorCode.AUTH_FAILED.code();
    }

    private static boolean isOutcomeUnknown(int err) {
        return endsConnection(err)
                || err == ErrorCode.OPERATION_TIMEOUT.code()
                || err == ErrorCode.REQUEST_TIMEOUT.code();
    }

    static RefusalReason reason(int err) {
        return ErrorCode.lookup(err).map(ServerErrors::reason).orElse(RefusalReason.OTHER);
    }

    private static RefusalReason reason(ErrorCode error) {
        return switch (error) {
            case NO_NODE -> RefusalReason.NO_NODE;
            case NODE_EXISTS -> RefusalReason.NODE_EXISTS;
            case BAD_VERSION -> RefusalReason.BAD_VERSION;
            case NOT_EMPTY -> RefusalReason.NOT_EMPTY;
            case NO_CHILDREN_FOR_EPHEMERALS -> RefusalReason.NO_CHILDREN_FOR_EPHEMERALS;
            case NO_AUTH -> RefusalReason.NO_AUTH;
            case AUTH_FAILED, SESSION_CLOSED_REQUIRE_SASL_AUTH -> RefusalReason.AUTH_FAILED;
            case INVALID_ACL -> RefusalReason.INVALID_ACL;
            case BAD_ARGUMENTS, MARSHALLING_ERROR -> RefusalReason.BAD_ARGUMENTS;
            case UNIMPLEMENTED, EPHEMERAL_ON_LOCAL_SESSION, RECONFIG_DISABLED -> RefusalReason.UNSUPPORTED;
            case NO_WATCHER -> RefusalReason.NO_WATCHER;
            case QUOTA_EXCEEDED, THROTTLED -> RefusalReason.LIMIT_EXCEEDED;
            case NOT_READ_ONLY -> RefusalReason.NOT_WRITABLE;
            case RUNTIME_INCONSISTENCY -> RefusalReason.ROLLED_BACK;
            default -> RefusalReason.OTHER;
        };
    }
}
