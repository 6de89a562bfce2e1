package io.conclave.spring.boot;

import io.conclave.cache.CachedNode;
import io.conclave.cache.Mirror;
import io.conclave.cache.MirrorScope;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.logging.Log;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.config.ConfigData;
import org.springframework.boot.context.config.ConfigDataLoader;
import org.springframework.boot.context.config.ConfigDataLoaderContext;
import org.springframework.boot.context.config.ConfigDataLocationNotFoundException;
import org.springframework.boot.logging.DeferredLogFactory;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;

/**
 * Reads trees of znodes as properties, over a connection of its own that is closed before the application starts: its
 * coordinator does not exist yet.
 */
final class ConfigTreesLoader implements ConfigDataLoader<ConfigTrees> {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Log log; // Boot shows it once logging is there

    ConfigTreesLoader(DeferredLogFactory logs) {
        this.log = logs.getLog(ConfigTreesLoader.class);
    }

    @Override
    public ConfigData load(ConfigDataLoaderContext context, ConfigTrees trees) {
        String connectString = trees.properties().getConnectString();
        if (connectString == null) {
            throw failed(trees, "conclave.connect-string is not set where the import is met", null);
        }
        Duration configured = trees.properties().getConnectTimeout();
        Duration timeout = configured == null ? TIMEOUT : configured;
        try (Coordinator coordinator = new CoordinatorSettings(trees.properties())
                .builder(connectString)
                .connectTimeout(timeout)
                .connect()) {
            return read(coordinator, trees, timeout);
        } catch (ConclaveException e) {
            throw failed(trees, String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while importing " + trees.location(), e);
        }
    }

    private RuntimeException failed(ConfigTrees trees, String reason, @Nullable Throwable cause) {
        String message = "Cannot import " + trees.location() + ": " + reason;
        if (trees.location().isOptional()) {
            log.warn(message + ". The import is optional: starting without it");
            return new ConfigDataLocationNotFoundException(trees.location(), message, cause);
        }
        return new ConfigImportException(
                message,
                "Check conclave.connect-string and the servers: an import is read at the start, within"
                        + " conclave.connect-timeout, or 10 s. To start without it, write optional:"
                        + trees.location().getValue() + ".",
                cause);
    }

    private static ConfigData read(Coordinator coordinator, ConfigTrees trees, Duration timeout)
            throws InterruptedException {
        List<PropertySource<?>> sources = new ArrayList<>();
        for (NodePath root : trees.roots()) {
            try (Mirror mirror = Mirror.ofTransactions(coordinator, root, MirrorScope.SUBTREE)) {
                mirror.awaitLoaded(timeout);
                sources.add(new MapPropertySource(
                        trees.location().getValue() + " " + root,
                        propertiesOf(root, mirror.state().nodes())));
            }
        }
        return new ConfigData(sources); // later ones come first in case of doubt
    }

    /** The levels below the root become parts of the key; a znode with children is a property if it has data. */
    private static Map<String, Object> propertiesOf(NodePath root, Map<NodePath, CachedNode> nodes) {
        Map<String, Object> properties = new HashMap<>();
        Set<NodePath> parents =
                nodes.keySet().stream().flatMap(path -> path.parent().stream()).collect(Collectors.toSet());
        for (CachedNode node : nodes.values()) {
            boolean isLevel = node.data().length == 0 && parents.contains(node.path());
            if (!node.path().equals(root) && !isLevel) {
                String below = node.path().toString().substring(root.toString().length() + 1);
                properties.put(below.replace('/', '.'), text(node));
            }
        }
        return properties;
    }

    private static String text(CachedNode node) {
        try {
            return DataCodec.TEXT.decode(node.data());
        } catch (IllegalArgumentException e) {
            throw new ConfigImportException(
                    "Cannot import the property of the znode " + node.path() + ": its data are not UTF-8",
                    "Write the value as text in UTF-8, or delete the znode.",
                    e);
        }
    }
}
