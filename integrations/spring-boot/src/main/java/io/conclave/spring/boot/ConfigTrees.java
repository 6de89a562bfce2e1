package io.conclave.spring.boot;

import io.conclave.node.NodePath;
import io.conclave.spi.ConnectString;
import java.util.List;
import java.util.Objects;
import org.springframework.boot.context.config.ConfigDataLocation;
import org.springframework.boot.context.config.ConfigDataResource;

/** Trees of znodes that are imported by one location, the one that comes first in case of doubt at the end. */
final class ConfigTrees extends ConfigDataResource {
    private final ConfigDataLocation location;
    private final List<NodePath> roots;
    private final ConclaveProperties properties;

    ConfigTrees(ConfigDataLocation location, List<NodePath> roots, ConclaveProperties properties) {
        super(location.isOptional());
        this.location = location;
        this.roots = List.copyOf(roots);
        this.properties = properties;
    }

    ConfigDataLocation location() {
        return location;
    }

    List<NodePath> roots() {
        return roots;
    }

    /** What was known of {@code conclave.*} when the location was met. */
    ConclaveProperties properties() {
        return properties;
    }

    /** Whether the root of its paths is that of the servers: neither a namespace nor a chroot stands above it. */
    boolean seesRootOfAll() {
        String connectString = properties.getConnectString();
        String namespace = properties.getNamespace();
        return (namespace == null || NodePath.of(namespace).isRoot())
                && (connectString == null
                        || ConnectString.parse(connectString).chroot().isRoot());
    }

    /** Boot reads a resource once: it is the same if it has the same trees. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ConfigTrees trees && roots.equals(trees.roots) && location.equals(trees.location);
    }

    @Override
    public int hashCode() {
        return Objects.hash(location, roots);
    }

    @Override
    public String toString() {
        return "conclave:" + roots;
    }
}
