package io.conclave.error;

/** Why a backend refused a request; a refused request had no effect. */
public enum RefusalReason {
    /** The znode, or the parent of the one to create, does not exist. */
    NO_NODE,
    /** A znode of that path exists already. */
    NODE_EXISTS,
    /** The znode's version is not the expected one. */
    BAD_VERSION,
    /** The znode has children and cannot be deleted. */
    NOT_EMPTY,
    /** Ephemeral znodes cannot have children. */
    NO_CHILDREN_FOR_EPHEMERALS,
    /** The session's identities lack the permission. */
    NO_AUTH,
    /** Authentication failed. */
    AUTH_FAILED,
    /** The ACL is empty or names an unknown scheme or a malformed id. */
    INVALID_ACL,
    /** The arguments break a rule of the backend (path, size, mode). */
    BAD_ARGUMENTS,
    /** The backend does not have this operation; see its capabilities. */
    UNSUPPORTED,
    /** There is no such watcher to remove. */
    NO_WATCHER,
    /** A quota or a limit of the backend or of this client's queue was reached; nothing was sent or done. */
    LIMIT_EXCEEDED,
    /** The server serves reads only, for example because its disk is full or it has no majority. */
    NOT_WRITABLE,
    /** Another operation of the same transaction was refused. */
    ROLLED_BACK,
    /** The server answered with an error that has no name of its own here; the message carries its code. */
    OTHER
}
