package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import java.time.Duration;
import java.util.List;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.config.ConfigData;
import org.springframework.boot.context.config.ConfigDataLoader;
import org.springframework.boot.context.config.ConfigDataLoaderContext;
import org.springframework.boot.logging.DeferredLogFactory;

/**
 * Reads trees of znodes as properties, over a connection of its own that is closed before the application starts: its
 * coordinator does not exist yet. {@link ConfigRefresh} follows them later.
 */
final class ConfigTreesLoader implements ConfigDataLoader<ConfigTrees> {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final String CHECK_SERVERS =
            "Check conclave.connect-string and the servers: an import is read at the start, within"
                    + " conclave.connect-timeout, or 10 s.";
    private static final String ALLOW_READING =
            "Allow the user of conclave.digest or conclave.sasl to read the whole tree: a part of it would pass for all"
                    + " of it.";

    private final Log log; // Boot shows it once logging is there

    ConfigTreesLoader(DeferredLogFactory logs) {
        this.log = logs.getLog(ConfigTreesLoader.class);
    }

    @Override
    public ConfigData load(ConfigDataLoaderContext context, ConfigTrees trees) {
        String connectString = trees.properties().getConnectString();
        if (connectString == null) {
            return failed(
                    trees,
                    "conclave.connect-string is not set where the import is met",
                    CHECK_SERVERS,
                    null,
                    ConfigData.EMPTY);
        }
        Duration configured = trees.properties().getConnectTimeout();
        Duration timeout = configured == null ? TIMEOUT : configured;
        try (Coordinator coordinator = new CoordinatorSettings(trees.properties())
                .builder(connectString)
                .connectTimeout(timeout)
                .connect()) {
            return read(coordinator, trees, timeout);
        } catch (ConclaveException e) {
            boolean mayNotRead = e instanceof RefusedException refused && refused.reason() == RefusalReason.NO_AUTH;
            String action = mayNotRead ? ALLOW_READING : CHECK_SERVERS;
            return failed(
                    trees, String.valueOf(e.getMessage()), action, e, new ConfigData(sources(trees))); // filled later
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while importing \"" + trees.location() + "\"", e);
        }
    }

    /** @param without what the application gets if the import is optional */
    private ConfigData failed(
            ConfigTrees trees, String reason, String action, @Nullable Throwable cause, ConfigData without) {
        String message = "Cannot import \"" + trees.location() + "\": " + reason;
        if (trees.location().isOptional()) {
            log.warn(message + ". The import is optional: starting without it");
            return without;
        }
        throw new ConfigImportException(
                message,
                action + " To start without it, write optional:"
                        + trees.location().getValue() + ".",
                cause);
    }

    private static List<TreePropertySource> sources(ConfigTrees trees) {
        return trees.roots().stream()
                .map(root -> new TreePropertySource(trees, root))
                .toList();
    }

    private ConfigData read(Coordinator coordinator, ConfigTrees trees, Duration timeout) throws InterruptedException {
        List<TreePropertySource> sources = sources(trees);
        for (TreePropertySource source : sources) {
            try (Mirror mirror = Mirror.ofTransactions(coordinator, source.root(), MirrorScope.SUBTREE)) {
                mirror.awaitLoaded(timeout);
                source.replace(mirror);
            } catch (RefusedException e) {
                if (!trees.location().isOptional() || e.reason() != RefusalReason.NO_AUTH) {
                    throw e;
                }
                log.warn("Cannot import " + source.root() + " of \"" + trees.location() + "\": " + e.getMessage()
                        + ". The import is optional: starting without this tree");
            }
        }
        return new ConfigData(sources); // later ones come first in case of doubt
    }
}
