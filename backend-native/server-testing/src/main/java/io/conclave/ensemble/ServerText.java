package io.conclave.ensemble;

import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.server.EnsembleTls;
import io.conclave.server.ServerConfig;
import io.conclave.tls.StoreFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The configuration of a server of an ensemble as the files that an operator would write, but for its proxies. */
final class ServerText {
    private final ServerConfig config;

    ServerText(ServerConfig config) {
        this.config = config;
    }

    /** The server's dataDir. */
    Path directory() {
        return config.homeDirectory().orElseThrow().toAbsolutePath();
    }

    /** Writes the files; returns the one to start the server with. */
    Path write() throws IOException {
        Files.createDirectories(directory());
        Files.writeString(directory().resolve("myid"), config.ensemble().memberId() + "\n");
        return Files.writeString(directory().resolve("conclave.cfg"), text());
    }

    private String text() {
        StringBuilder lines = new StringBuilder();
        put(lines, "dataDir", directory());
        put(lines, "clientPort", config.clientPort().orElseThrow());
        put(lines, "clientPortAddress", config.clientPortAddress().orElseThrow());
        put(lines, "tickTime", config.tickTimeMs());
        put(lines, "syncLimit", config.ensemble().syncLimitTicks());
        put(lines, "electionTimeoutMs", config.ensemble().electionTimeoutMs());
        put(lines, "maxSessionTimeout", config.maxSessionTimeoutMs());
        put(lines, "maxClientCnxns", config.maxConnectionsPerAddress());
        put(lines, "snapCount", Math.min(Integer.MAX_VALUE, config.snapshotEveryEntries()));
        put(lines, "znode.container.checkIntervalMs", config.reaping().checkIntervalMs());
        put(lines, "preAllocSize", config.segmentBytes() / 1024);
        put(lines, "readonlymode.enabled", config.readOnlyMode());
        put(lines, "4lw.commands.whitelist", String.join(",", config.commandWhitelist()));
        put(
                lines,
                "peerAuthentication",
                config.ensemble().authentication().name().toLowerCase(Locale.ROOT));
        config.ensemble().secretFile().ifPresent(file -> put(lines, "peerSecretFile", file.toAbsolutePath()));
        putTls(lines, config.ensemble().tls());
        config.superDigest().ifPresent(digest -> put(lines, "DigestAuthenticationProvider.superDigest", digest));
        config.ensemble().members().forEach((id, member) -> put(lines, "server." + id, line(member)));
        return lines.toString();
    }

    private static void putTls(StringBuilder lines, EnsembleTls tls) {
        tls.settings().ifPresent(settings -> {
            put(lines, "sslQuorum", tls.dials());
            put(lines, "portUnification", tls.takesPlain());
            put(lines, "ssl.quorum.hostnameVerification", settings.verifiesServerNames());
            put(lines, "ssl.quorum.clientHostnameVerification", tls.verifiesCallers());
            put(lines, "sslQuorumReloadCertFiles", tls.reloads());
            settings.keyStore().ifPresent(store -> put(lines, "ssl.quorum.keyStore.location", path(store)));
            settings.trustStore().ifPresent(store -> put(lines, "ssl.quorum.trustStore.location", path(store)));
        });
    }

    private static Path path(StoreFile store) {
        return store.location().toAbsolutePath();
    }

    private static String line(EnsembleMember member) {
        return member.host() + ":" + member.peerPort() + ":" + (member.observer() ? "observer" : "participant") + ";"
                + member.clientPort();
    }

    private static void put(StringBuilder lines, String key, Object value) {
        lines.append(key).append('=').append(value).append('\n');
    }
}
