package io.conclave.tree;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;

/**
 * An entry of the log: what is to be done to the replicated state. What depends on the proposer (ids, passwords, the
 * caller's identity) travels in the change, so that applying it needs nothing else.
 */
public sealed interface Change {
    /** At this level all members understand nodes with a time to live, and a limit in {@link DeleteContainer}. */
    int TTL_FEATURE_LEVEL = 3;

    /** From this level on what is used of quotas is counted, and a {@link Request} may be held to hard limits. */
    int QUOTA_FEATURE_LEVEL = 4;

    /** In a {@link CloseSession}: any connection that the session is attached to. */
    long ANY_ATTACHMENT = 0;

    /**
     * A new session, attached to the connection that asked for it.
     *
     * @param id not 0, chosen to be unique (a taken one is refused with BAD_ARGUMENTS)
     * @param timeoutMs the negotiated timeout, at least 1
     */
    record OpenSession(long id, SessionPassword password, int timeoutMs) implements Change {
        public OpenSession {
            requireNonNull(password, "password");
            requirePositive(timeoutMs);
        }
    }

    /**
     * Another connection takes a session up; refused with SESSION_EXPIRED if it is unknown or the password is wrong.
     *
     * @param timeoutMs the timeout negotiated anew, at least 1; one shorter than the session has changes nothing
     */
    record ResumeSession(long id, SessionPassword password, int timeoutMs) implements Change {
        public ResumeSession {
            requireNonNull(password, "password");
            requirePositive(timeoutMs);
        }
    }

    /**
     * The session ends and its ephemeral nodes with it.
     *
     * @param attachment the attachment that asked, or that was found silent; if the session has moved since, the
     *     change is refused with SESSION_MOVED. {@link #ANY_ATTACHMENT} closes it wherever it is.
     */
    record CloseSession(long id, long attachment, CloseReason reason) implements Change {
        public CloseSession {
            requireNonNull(reason, "reason");
            if (reason == CloseReason.EXPIRED) {
                throw new IllegalArgumentException("a silent session is ended by ExpireSession");
            }
        }
    }

    /**
     * The leader has not heard of a session for its timeout, and marks it in the replicated state, as the first of two
     * steps. Anything that the session does from here on takes the mark away: a request, a resume, a {@link
     * KeepSession}. A server that sees the mark answers no ping of the session before such a change is applied. So
     * every heartbeat that a client was answered is either known to the leader when this is applied, or stands
     * between this and the {@link ExpireSession} in the log, which is refused then.
     *
     * @param attachment the attachment that was found silent; refused with SESSION_MOVED if it is not the present one
     * @param term of the leader that has not heard of it; refused with SESSION_MOVED if another one leads, since
     *     that one gave every session a full timeout. 0 in the log of an earlier version: any term
     */
    record SuspectSession(long id, long attachment, long term) implements Change {}

    /**
     * What a member's state was at some moment, so that all can compare. Changes nothing.
     *
     * @param member which one
     * @param zxid the last change in that state
     * @param digest the state's {@link TreeState#digest}
     */
    record CompareState(int member, long zxid, long digest) implements Change {}

    /** A session that is marked as silent has been heard of: the mark goes. */
    record KeepSession(long id, long attachment) implements Change {}

    /**
     * The second step: a session that was silent for its timeout ends, and its ephemeral nodes with it. Refused with
     * SESSION_MOVED if the session is not marked by that very {@link SuspectSession} any more, or if the
     * term of another leader has begun, which gave every session a full timeout.
     *
     * @param suspicion the zxid of the {@link SuspectSession}
     * @param term the term of the leader that proposes it
     */
    record ExpireSession(long id, long suspicion, long term) implements Change {}

    /**
     * The cluster has other members: the data of {@code /zookeeper/config} says so.
     *
     * @param members their {@code server.N} lines, each with its end of line
     */
    record Configure(String members) implements Change {
        public Configure {
            requireNonNull(members, "members");
        }
    }

    /** The party that wanted a session closed. */
    enum CloseReason {
        /** Its client. */
        CLIENT(0),
        /** The leader, after a silence of the session's timeout. */
        EXPIRED(1),
        /** An operator. */
        OPERATOR(2);

        private static final CloseReason[] BY_CODE = values();

        private final int code;

        CloseReason(int code) {
            this.code = code;
        }

        int code() {
            return code;
        }

        static Optional<CloseReason> ofCode(int code) {
            return code >= 0 && code < BY_CODE.length ? Optional.of(BY_CODE[code]) : Optional.empty();
        }
    }

    /**
     * What a client asked for.
     *
     * @param attachment the attachment of the connection that took the request
     * @param authIds the ids which that connection had proved when the request came in
     * @param enforcesQuotas whether it is refused beyond a hard limit; not before {@link #QUOTA_FEATURE_LEVEL}
     */
    record Request(
            long sessionId, long attachment, List<AuthId> authIds, TreeOperation operation, boolean enforcesQuotas)
            implements Change {
        public Request {
            authIds = List.copyOf(authIds);
            requireNonNull(operation, "operation");
        }

        /** A request that hard limits do not concern. */
        public Request(long sessionId, long attachment, List<AuthId> authIds, TreeOperation operation) {
            this(sessionId, attachment, authIds, operation, false);
        }
    }

    /**
     * The reaper's request: remove a container that has had children and has none now, or a node without children that
     * was not changed for its time to live, by the time of this change. A node that is neither (any more) is refused
     * with BAD_VERSION, or NOT_EMPTY if children have come.
     *
     * @param maxNeverUsedMs a container that has never had a child goes too if it was not changed for longer; 0 for
     *     never
     */
    record DeleteContainer(String path, long maxNeverUsedMs) implements Change {
        public DeleteContainer {
            requireNonNull(path, "path");
            if (maxNeverUsedMs < 0) {
                throw new IllegalArgumentException("maxNeverUsedMs must not be negative: " + maxNeverUsedMs);
            }
        }

        /** Spares containers that have never had a child. */
        public DeleteContainer(String path) {
            this(path, 0);
        }
    }

    /**
     * The first entry of a leader: raises the epoch, so that zxids of different leaders never meet.
     *
     * @param term the leader's term in the replicated log
     */
    record NewTerm(long term) implements Change {}

    /**
     * Switches on what members up to this level understand; proposed when all of them do. A level below the present
     * one changes nothing.
     */
    record RaiseFeatureLevel(int level) implements Change {}

    private static void requirePositive(int timeoutMs) {
        if (timeoutMs <= 0) {
            throw new IllegalArgumentException("timeoutMs must be positive: " + timeoutMs);
        }
    }
}
