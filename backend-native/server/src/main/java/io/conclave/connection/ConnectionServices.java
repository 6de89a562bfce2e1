package io.conclave.connection;

import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * What all connections of a server share.
 *
 * @param limits the bounds of connections
 * @param guard the bounds of what clients make the server hold
 * @param sessionCounts the sessions that were opened here
 * @param largeRequests the large requests that are inside
 * @param arriving the long requests of which a part is there
 * @param unread what all clients have yet to read
 * @param leases which sessions were heard of
 * @param sessionIds ids and passwords of new sessions
 * @param replicated the newest state that the log has made, ahead of the loops' by what they have not walked through
 * @param security who clients are, and what they must prove
 * @param commandWords what a connection may say instead of a handshake
 * @param membership changes the membership of the cluster
 * @param levels puts new semantics in force
 * @param offersTtl whether nodes with a time to live may be created now; from any thread
 * @param time clocks and timers
 */
public record ConnectionServices(
        ConnectionLimits limits,
        LimitGuard guard,
        SessionCounts sessionCounts,
        LargeRequests largeRequests,
        ArrivingRequests arriving,
        UnreadBytes unread,
        SessionLeases leases,
        SessionIds sessionIds,
        Supplier<TreeState> replicated,
        ClientSecurity security,
        CommandWords commandWords,
        MembershipService membership,
        FeatureLevelService levels,
        BooleanSupplier offersTtl,
        TimeSource time) {

    /** The services of a server that no session was opened through yet. */
    public ConnectionServices(
            ConnectionLimits limits,
            LimitGuard guard,
            SessionLeases leases,
            SessionIds sessionIds,
            Supplier<TreeState> replicated,
            ClientSecurity security,
            CommandWords commandWords,
            MembershipService membership,
            FeatureLevelService levels,
            BooleanSupplier offersTtl,
            TimeSource time) {
        this(
                limits,
                guard,
                new SessionCounts(guard, time),
                new LargeRequests(guard.limits().most(ClientLimit.LARGE_REQUESTS_BYTES)),
                new ArrivingRequests(guard.limits().most(ClientLimit.ARRIVING_BYTES), time),
                new UnreadBytes(guard, time),
                leases,
                sessionIds,
                replicated,
                security,
                commandWords,
                membership,
                levels,
                offersTtl,
                time);
    }
}
