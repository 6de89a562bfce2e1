package io.conclave.server;

import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * This server's number, and the ensemble it belongs to.
 *
 * @param memberId this server's number, 1 to 255
 * @param members the {@code server.N} lines; empty for a server that has none, and needs no port for others
 * @param initLimitTicks how many ticks a start waits to be served by a leader before it says what it waits for
 * @param syncLimitTicks after how many ticks without a leader this server stops serving its clients
 * @param electionTimeoutMs how long a leader may be silent before another one is looked for; drawn anew each time
 *     between this and twice as much
 * @param listensOnAllAddresses whether other members are listened to on all addresses, instead of this member's own
 * @param dialInstead addresses to dial in place of the members' own, for proxies between them
 * @param authentication whether members prove to each other that they have the cluster's secret
 * @param secretFile where the cluster's secret is; empty for the file {@code peer.secret} in the server's home
 *     directory
 * @param featureLevelDelay how long after the last upgrade a new feature level is put in force; empty to wait for an
 *     operator
 * @param tls how members use TLS among themselves
 */
public record EnsembleConfig(
        int memberId,
        Map<Integer, EnsembleMember> members,
        int initLimitTicks,
        int syncLimitTicks,
        int electionTimeoutMs,
        boolean listensOnAllAddresses,
        Map<Integer, InetSocketAddress> dialInstead,
        PeerAuthentication authentication,
        Optional<Path> secretFile,
        Optional<Duration> featureLevelDelay,
        EnsembleTls tls) {
    static final int DEFAULT_INIT_LIMIT_TICKS = 10;
    static final int DEFAULT_SYNC_LIMIT_TICKS = 5;
    static final int DEFAULT_ELECTION_TIMEOUT_MS = 1000;

    /** Long enough to notice that the earlier version is wanted back. */
    static final Duration DEFAULT_FEATURE_LEVEL_DELAY = Duration.ofDays(1);

    public EnsembleConfig {
        members = Collections.unmodifiableMap(new TreeMap<>(members));
        dialInstead = Map.copyOf(dialInstead);
    }

    /** A server by itself, which no other can join before it is given a {@code server.N} line. */
    public static EnsembleConfig alone(int memberId) {
        return of(memberId, Map.of());
    }

    /** A member among others, with the default limits. */
    public static EnsembleConfig of(int memberId, Map<Integer, EnsembleMember> members) {
        return new EnsembleConfig(
                memberId,
                members,
                DEFAULT_INIT_LIMIT_TICKS,
                DEFAULT_SYNC_LIMIT_TICKS,
                DEFAULT_ELECTION_TIMEOUT_MS,
                false,
                Map.of(),
                PeerAuthentication.REQUIRED,
                Optional.empty(),
                Optional.of(DEFAULT_FEATURE_LEVEL_DELAY),
                EnsembleTls.NONE);
    }

    private EnsembleConfig with(Consumer<Draft> change) {
        Draft draft = new Draft(this);
        change.accept(draft);
        return draft.config();
    }

    /** The same with another election timeout. */
    public EnsembleConfig withElectionTimeoutMs(int value) {
        return with(draft -> draft.electionTimeoutMs = value);
    }

    /** The same with another limit without a leader. */
    public EnsembleConfig withSyncLimitTicks(int value) {
        return with(draft -> draft.syncLimitTicks = value);
    }

    /** The same with proxies between the members. */
    public EnsembleConfig withDialInstead(Map<Integer, InetSocketAddress> value) {
        return with(draft -> draft.dialInstead = value);
    }

    /**
     * The same with another rule for what members prove to each other.
     *
     * @param file where the cluster's secret is; empty for the file {@code peer.secret} in the server's home directory
     */
    public EnsembleConfig withAuthentication(PeerAuthentication value, Optional<Path> file) {
        return with(draft -> {
            draft.authentication = value;
            draft.secretFile = file;
        });
    }

    /** The same with another time until a new feature level is put in force. */
    public EnsembleConfig withFeatureLevelDelay(Optional<Duration> value) {
        return with(draft -> draft.featureLevelDelay = value);
    }

    /** The same with another use of TLS among the members. */
    public EnsembleConfig withTls(EnsembleTls value) {
        return with(draft -> draft.tls = value);
    }

    /** The same member without the others. */
    EnsembleConfig withoutOthers() {
        Map<Integer, EnsembleMember> itself = new TreeMap<>(members);
        itself.keySet().retainAll(List.of(memberId));
        return with(draft -> draft.members = itself);
    }

    /** Whether no other server is listed. The log may know of others, for members are added while a cluster runs. */
    public boolean isAlone() {
        return members.size() <= 1;
    }

    /** This server's own line. */
    public Optional<EnsembleMember> self() {
        return Optional.ofNullable(members.get(memberId));
    }

    /** A copy that can be changed, so that a changed component is named once. */
    private static final class Draft {
        private final EnsembleConfig unchanged;
        private Map<Integer, EnsembleMember> members;
        private int syncLimitTicks;
        private int electionTimeoutMs;
        private Map<Integer, InetSocketAddress> dialInstead;
        private PeerAuthentication authentication;
        private Optional<Path> secretFile;
        private Optional<Duration> featureLevelDelay;
        private EnsembleTls tls;

        Draft(EnsembleConfig config) {
            unchanged = config;
            members = config.members;
            syncLimitTicks = config.syncLimitTicks;
            electionTimeoutMs = config.electionTimeoutMs;
            dialInstead = config.dialInstead;
            authentication = config.authentication;
            secretFile = config.secretFile;
            featureLevelDelay = config.featureLevelDelay;
            tls = config.tls;
        }

        EnsembleConfig config() {
            return new EnsembleConfig(
                    unchanged.memberId,
                    members,
                    unchanged.initLimitTicks,
                    syncLimitTicks,
                    electionTimeoutMs,
                    unchanged.listensOnAllAddresses,
                    dialInstead,
                    authentication,
                    secretFile,
                    featureLevelDelay,
                    tls);
        }
    }
}
