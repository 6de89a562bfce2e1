package io.conclave.server;

import io.conclave.connection.ClientLimit;
import io.conclave.connection.ConnectionTotals;
import io.conclave.connection.LimitGuard;
import io.conclave.connection.ServiceMode;
import io.conclave.connection.TlsCounts;
import io.conclave.consensus.DiskState;
import io.conclave.consensus.LeaderStatus;
import io.conclave.consensus.LogRole;
import io.conclave.consensus.LogStatus;
import io.conclave.consensus.PeerCounts;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** How this server is doing, in ZooKeeper's words: srvr, stat and mntr. From any thread. */
final class ServerReport {
    /** Tools read the first three numbers as ZooKeeper's, whose behaviour they mean; the rest names this server. */
    static final String VERSION = "3.9.5-conclave-"
            + Optional.ofNullable(ServerReport.class.getPackage().getImplementationVersion())
                    .orElse("0.1.0") + ", built on Conclave";

    private final ServerConfig config;
    private final Supplier<ServiceMode> mode;
    private final Supplier<LogStatus> log;
    private final Supplier<PeerCounts> peers;
    private final Supplier<TreeState> state;
    private final LongSupplier sessionsNotHeardOf;
    private final LimitGuard guard;
    private final TimeSource time;
    private final long startedNanos;
    private final AtomicLong busyWords = new AtomicLong();

    ServerReport(
            ServerConfig config,
            Supplier<ServiceMode> mode,
            Supplier<LogStatus> log,
            Supplier<PeerCounts> peers,
            Supplier<TreeState> state,
            LongSupplier sessionsNotHeardOf,
            LimitGuard guard,
            TimeSource time) {
        this.config = config;
        this.mode = mode;
        this.log = log;
        this.peers = peers;
        this.state = state;
        this.sessionsNotHeardOf = sessionsNotHeardOf;
        this.guard = guard;
        this.time = time;
        this.startedNanos = time.monotonicNanos();
    }

    /** A four-letter word was told to come again. */
    void wordFoundNoRoom() {
        busyWords.incrementAndGet();
    }

    ServiceMode mode() {
        return mode.get();
    }

    boolean mayBeReadOnly() {
        return config.readOnlyMode();
    }

    /** Whether it serves nothing since it reads the state of a snapshot. */
    boolean readsState() {
        return log.get().readingState();
    }

    /** Why there is no leader, as far as this server knows; empty if there is one. */
    String noLeaderReason() {
        return log.get().noLeaderReason();
    }

    /** As mntr has it: 0 if there is room, 1 if only in the present file of the log, 2 if there is none. */
    int disk() {
        return diskState(log.get().disk());
    }

    /** The first lines of srvr and stat. */
    String heading() {
        String readOnly = mode() == ServiceMode.READ_ONLY ? "READ-ONLY mode; serving only read-only clients\n" : "";
        return "Zookeeper version: " + VERSION + "\n" + readOnly;
    }

    /** The other lines of both. */
    String statistics(ConnectionTotals connections) {
        return String.format(
                        Locale.ROOT,
                        "Latency min/avg/max: %d/%.4f/%d\nReceived: %d\nSent: %d\nConnections: %d\nOutstanding: %d\n",
                        connections.leastLatencyMs(),
                        connections.averageLatencyMs(),
                        connections.maxLatencyMs(),
                        connections.received(),
                        connections.sent(),
                        connections.connections(),
                        connections.outstanding())
                + "Zxid: 0x" + Long.toHexString(state.get().lastZxid()) + "\nMode: " + serverState() + "\nNode count: "
                + state.get().nodeCount() + "\n";
    }

    /** standalone, leader, follower, observer or read-only. */
    String serverState() {
        LogStatus status = log.get();
        ClusterConfiguration members = status.configuration();
        if (mode() == ServiceMode.READ_ONLY) {
            return "read-only";
        }
        if (config.ensemble().isAlone() && members.members().size() <= 1) {
            return "standalone";
        }
        if (status.role() == LogRole.LEADING) {
            return "leader";
        }
        return members.isVoter(status.memberId()) ? "follower" : "observer";
    }

    String monitoring(ConnectionTotals connections, TlsCounts tls) {
        TreeState tree = state.get();
        LogStatus status = log.get();
        StringBuilder text = new StringBuilder();
        tell(text, "zk_version", VERSION);
        tell(text, "zk_server_state", serverState());
        tell(text, "zk_ephemerals_count", tree.ephemeralCount());
        tell(text, "zk_num_alive_connections", connections.connections());
        tell(text, "zk_outstanding_tls_handshake", tls.halfOpen());
        tell(text, "zk_unsuccessful_handshake", tls.failed());
        tell(text, "zk_conclave_secure_connections", tls.secure());
        tell(text, "zk_avg_latency", String.format(Locale.ROOT, "%.4f", connections.averageLatencyMs()));
        tell(text, "zk_min_latency", connections.leastLatencyMs());
        tell(text, "zk_max_latency", connections.maxLatencyMs());
        tell(
                text,
                "zk_conclave_avg_loop_turn_ms",
                threeDigits(connections.turns().averageMs()));
        tell(
                text,
                "zk_conclave_max_loop_turn_ms",
                threeDigits(connections.turns().longestMs()));
        tell(text, "zk_outstanding_requests", connections.outstanding());
        tell(text, "zk_znode_count", tree.nodeCount());
        tell(text, "zk_global_sessions", tree.sessions().size());
        tell(text, "zk_local_sessions", 0);
        tell(text, "zk_packets_sent", connections.sent());
        tell(text, "zk_packets_received", connections.received());
        tell(text, "zk_watch_count", connections.watches());
        tell(text, "zk_approximate_data_size", tree.approximateDataBytes());
        tell(text, "zk_uptime", TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - startedNanos));
        tell(text, "zk_open_file_descriptor_count", OpenFiles.count());
        tell(text, "zk_max_file_descriptor_count", OpenFiles.most());
        String serverState = serverState();
        if (!serverState.equals("standalone")) {
            tell(text, "zk_peer_state", peerState(serverState));
            tell(text, "zk_quorum_size", status.configuration().voters().size());
        }
        if (serverState.equals("leader")) {
            tellOfFollowers(text, status.configuration(), status.leadership());
            tell(text, "zk_conclave_sessions_not_heard_of", sessionsNotHeardOf.getAsLong());
        }
        tellOfPeers(text, status, peers.get());
        ownLines(status, tree).forEach((key, value) -> tell(text, key, value));
        tellOfLimits(text, tree);
        return text.toString();
    }

    /** The state and its phase, in ZooKeeper's words. A server that serves is in the last phase, broadcast. */
    private static String peerState(String serverState) {
        return switch (serverState) {
            case "leader" -> "leading - broadcast";
            case "follower" -> "following - broadcast";
            case "observer" -> "observing - broadcast";
            default -> "looking";
        };
    }

    /** A follower without a vote, in ZooKeeper's words, is a member that is to be a voter and is none yet. */
    private static void tellOfFollowers(StringBuilder text, ClusterConfiguration members, LeaderStatus leadership) {
        Set<Integer> followers = participants(members, leadership.synced());
        tell(text, "zk_learners", leadership.heard().size());
        tell(text, "zk_followers", participants(members, leadership.heard()).size());
        tell(text, "zk_synced_followers", followers.size());
        followers.removeIf(members::isVoter);
        tell(text, "zk_synced_non_voting_followers", followers.size());
        Set<Integer> observers = new TreeSet<>(leadership.synced());
        observers.removeAll(participants(members, leadership.synced()));
        tell(text, "zk_synced_observers", observers.size());
        tell(text, "zk_leader_uptime", leadership.forMs());
    }

    private static Set<Integer> participants(ClusterConfiguration members, Set<Integer> of) {
        Set<Integer> participants = new TreeSet<>(of);
        participants.removeIf(id ->
                !members.members().containsKey(id) || members.members().get(id).observer());
        return participants;
    }

    private void tellOfLimits(StringBuilder text, TreeState tree) {
        long stateBytes = tree.approximateHeapBytes();
        tell(text, "zk_connection_rejected", guard.connections().count());
        tell(text, "zk_conclave_rejected_credentials", guard.credentials().count());
        tell(text, "zk_conclave_refused_clients_ahead", guard.clientsAhead().count());
        tell(text, "zk_conclave_late_handshakes", guard.late().count());
        tell(text, "zk_conclave_tls_gave_way", guard.halfOpen().count());
        tell(text, "zk_conclave_busy_words", busyWords.get());
        tell(text, "zk_conclave_watch_bytes", guard.watchBytes());
        tell(text, "zk_conclave_bytes_in_flight", guard.bytesInFlight());
        tell(text, "zk_conclave_unread_bytes", guard.unreadBytes());
        tell(text, "zk_conclave_state_bytes", stateBytes);
        tell(text, "zk_conclave_state_full", stateBytes > guard.limits().most(ClientLimit.STATE_BYTES) ? 1 : 0);
        for (ClientLimit limit : ClientLimit.values()) {
            tell(text, limit.metric(), guard.count(limit));
        }
        tell(text, "zk_conclave_quota_exceeded", guard.quotas().exceeded());
        tell(text, "zk_conclave_refused_quota", guard.quotas().refused());
    }

    private static void tellOfPeers(StringBuilder text, LogStatus status, PeerCounts peers) {
        tell(text, "zk_conclave_peer_conflicts", status.conflicts());
        tell(text, "zk_conclave_peer_gave_way", peers.gaveWay());
        tell(text, "zk_conclave_peer_lacked_memory", peers.lackedMemory());
        tell(text, "zk_conclave_peer_refused", peers.refused());
        tell(text, "zk_conclave_peer_strangers", peers.strangers());
    }

    /** Named and made as ZooKeeper's: some tools refuse all lines for one that has another name, or is no number. */
    private static Map<String, Object> ownLines(LogStatus status, TreeState tree) {
        Map<String, Object> lines = new TreeMap<>();
        lines.put("zk_conclave_member_id", status.memberId());
        lines.put("zk_conclave_reading_state", status.readingState() ? 1 : 0);
        lines.put("zk_conclave_leader", status.leader());
        if (!status.noLeaderReason().isEmpty()) {
            lines.put("zk_no_leader_reason", status.noLeaderReason());
        }
        lines.put("zk_conclave_term", status.term());
        lines.put("zk_conclave_last_index", status.lastIndex());
        lines.put("zk_conclave_commit_index", status.commitIndex());
        lines.put("zk_conclave_applied_index", status.appliedIndex());
        lines.put("zk_conclave_members", status.configuration().members().size());
        lines.put("zk_conclave_voters", status.configuration().voters().size());
        lines.put("zk_conclave_feature_level", tree.featureLevel());
        lines.put("zk_conclave_feature_level_understood", ConclaveServer.FEATURE_LEVEL);
        lines.put("zk_conclave_disk", diskState(status.disk()));
        return lines;
    }

    private static int diskState(DiskState disk) {
        return switch (disk) {
            case ROOM -> 0;
            case LOW -> 1;
            case FULL -> 2;
        };
    }

    private static String threeDigits(double ms) {
        return String.format(Locale.ROOT, "%.3f", ms);
    }

    private static void tell(StringBuilder text, String key, Object value) {
        text.append(key).append('\t').append(value).append('\n');
    }
}
