package io.conclave.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.connection.ClientLimit;
import io.conclave.consensus.PeerAuthentication;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.tls.TlsSettings;
import java.lang.reflect.RecordComponent;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A copy of a configuration differs in what was changed only. */
class ConfigCopyTest {
    private static final TlsSettings SETTINGS = TlsSettings.builder("ssl.").build();

    private static final EnsembleConfig ENSEMBLE = new EnsembleConfig(
            2,
            Map.of(
                    1, new EnsembleMember(1, 0, "one", 2888, "", 0, false),
                    2, new EnsembleMember(2, 0, "two", 2888, "", 0, false)),
            11,
            7,
            900,
            true,
            Map.of(1, InetSocketAddress.createUnresolved("proxy", 1)),
            PeerAuthentication.OPTIONAL,
            Optional.of(Path.of("secret")),
            Optional.of(Duration.ofHours(1)),
            EnsembleTls.NONE);

    @Test
    void ensembleCopyDiffersInOneComponent() throws ReflectiveOperationException {
        onlyDiffersIn(Set.of("electionTimeoutMs"), ENSEMBLE, ENSEMBLE.withElectionTimeoutMs(901));
        onlyDiffersIn(Set.of("syncLimitTicks"), ENSEMBLE, ENSEMBLE.withSyncLimitTicks(8));
        onlyDiffersIn(Set.of("dialInstead"), ENSEMBLE, ENSEMBLE.withDialInstead(Map.of()));
        onlyDiffersIn(Set.of("featureLevelDelay"), ENSEMBLE, ENSEMBLE.withFeatureLevelDelay(Optional.empty()));
        onlyDiffersIn(Set.of("members"), ENSEMBLE, ENSEMBLE.withoutOthers());
        EnsembleTls tls = new EnsembleTls(Optional.of(SETTINGS), true, false, true, true);
        onlyDiffersIn(Set.of("tls"), ENSEMBLE, ENSEMBLE.withTls(tls));
        onlyDiffersIn(
                Set.of("syncLimitTicks"),
                ENSEMBLE.withTls(tls),
                ENSEMBLE.withTls(tls).withSyncLimitTicks(8));
        onlyDiffersIn(
                Set.of("authentication", "secretFile"),
                ENSEMBLE,
                ENSEMBLE.withAuthentication(PeerAuthentication.REQUIRED, Optional.empty()));
    }

    @Test
    void serverCopyDiffersInEnsembleOrPort() throws ReflectiveOperationException {
        ServerConfig config = ServerConfig.builder()
                .clientPort(2181)
                .clientPortAddress("here")
                .dataDirectory(Optional.of(Path.of("data")))
                .tickTimeMs(1000)
                .minSessionTimeoutMs(3000)
                .maxSessionTimeoutMs(4000)
                .clientLimit(ClientLimit.SESSIONS_OF_ADDRESS, 7)
                .enforcesQuotas(true)
                .clientTls(
                        new ClientTls(Optional.of(2281), Optional.of("there"), true, true, Optional.empty(), SETTINGS))
                .build();
        onlyDiffersIn(Set.of("ensemble"), config, config.withEnsemble(ENSEMBLE));
        onlyDiffersIn(Set.of("clientPort", "clientPortAddress", "clientTls"), config, config.withoutPort());
    }

    private static void onlyDiffersIn(Set<String> changed, Record before, Record after)
            throws ReflectiveOperationException {
        for (RecordComponent component : before.getClass().getRecordComponents()) {
            Object old = component.getAccessor().invoke(before);
            boolean same = old.equals(component.getAccessor().invoke(after));
            assertEquals(!changed.contains(component.getName()), same, component.getName());
        }
    }
}
