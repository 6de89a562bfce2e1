package io.conclave.proofs.interop;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ServerConfig;
import io.conclave.testkit.proxy.FreePort;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** Our stand-alone, durable server in this JVM, over TCP, with session timeouts from 200 ms on. */
public final class StandaloneConclave implements ServerUnderTest {
    private static final int TICK_MS = 100;

    private final Path directory = ServerDirectory.create("conclave");
    private final int port = FreePort.find();
    private final long containerCheckIntervalMs;
    private final boolean enforcesQuotas;
    private final Set<String> words;
    private ConclaveServer server;

    /** Starts a server on an empty directory; it soon deletes containers that were emptied. */
    public StandaloneConclave() {
        this(200);
    }

    /** Starts a server on an empty directory that looks for emptied containers this often. */
    public StandaloneConclave(long containerCheckIntervalMs) {
        this(containerCheckIntervalMs, false);
    }

    /** The same, and refuses what is beyond hard quotas if asked to. */
    public StandaloneConclave(long containerCheckIntervalMs, boolean enforcesQuotas) {
        this(containerCheckIntervalMs, enforcesQuotas, Set.of("srvr"));
    }

    /** Starts a server on an empty directory that answers these four-letter words, {@code *} for all. */
    StandaloneConclave(Set<String> words) {
        this(200, false, words);
    }

    private StandaloneConclave(long containerCheckIntervalMs, boolean enforcesQuotas, Set<String> words) {
        this.enforcesQuotas = enforcesQuotas;
        this.containerCheckIntervalMs = containerCheckIntervalMs;
        this.words = words;
        start();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public String url() {
        return "conclave://" + hostPort();
    }

    @Override
    public void stop() {
        server.close();
    }

    @Override
    public void start() {
        ServerConfig config = ServerConfig.builder()
                .clientPort(port)
                .clientPortAddress("127.0.0.1")
                .dataDirectory(Optional.of(directory))
                .tickTimeMs(TICK_MS)
                .maxSessionTimeoutMs(60_000)
                .maxConnectionsPerAddress(0)
                .containerCheckIntervalMs(containerCheckIntervalMs)
                .segmentBytes(8 << 20)
                .enforcesQuotas(enforcesQuotas)
                .commandWhitelist(words)
                .build();
        server = ConclaveServer.start(config, TimeSource.system(), cause -> {});
    }

    @Override
    public void close() {
        stop();
        ServerDirectory.delete(directory);
    }
}
