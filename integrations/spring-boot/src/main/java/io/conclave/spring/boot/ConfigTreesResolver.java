package io.conclave.spring.boot;

import io.conclave.node.NodePath;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.context.config.ConfigDataLocation;
import org.springframework.boot.context.config.ConfigDataLocationResolver;
import org.springframework.boot.context.config.ConfigDataLocationResolverContext;
import org.springframework.boot.context.config.Profiles;
import org.springframework.boot.context.properties.bind.Binder;

/**
 * Says which trees of znodes {@code conclave:} means, and {@code conclave:/path}: the names are those of Spring Cloud
 * Zookeeper Config.
 */
final class ConfigTreesResolver implements ConfigDataLocationResolver<ConfigTrees> {
    private static final String PREFIX = "conclave:";
    private static final String ROOT = "/config";
    private static final String SHARED = "application";

    ConfigTreesResolver() {}

    @Override
    public boolean isResolvable(ConfigDataLocationResolverContext context, ConfigDataLocation location) {
        return location.hasPrefix(PREFIX);
    }

    @Override
    public List<ConfigTrees> resolve(ConfigDataLocationResolverContext context, ConfigDataLocation location) {
        return List.of(trees(context.getBinder(), location, List.of("")));
    }

    @Override
    public List<ConfigTrees> resolveProfileSpecific(
            ConfigDataLocationResolverContext context, ConfigDataLocation location, Profiles profiles) {
        List<String> suffixes =
                profiles.getAccepted().stream().map(profile -> "," + profile).toList();
        return suffixes.isEmpty() ? List.of() : List.of(trees(context.getBinder(), location, suffixes));
    }

    private static ConfigTrees trees(Binder binder, ConfigDataLocation location, List<String> suffixes) {
        List<String> bases = bases(binder, location);
        List<NodePath> roots = new ArrayList<>();
        for (String suffix : suffixes) {
            for (String base : bases) {
                roots.add(path(location, base + suffix));
            }
        }
        ConclaveProperties properties = binder.bindOrCreate("conclave", ConclaveProperties.class);
        return new ConfigTrees(location, roots, properties);
    }

    /** Later ones come first in case of doubt. */
    private static List<String> bases(Binder binder, ConfigDataLocation location) {
        String path = location.getNonPrefixedValue(PREFIX);
        if (!path.isEmpty()) {
            return List.of(path);
        }
        String name = binder.bind("spring.application.name", String.class).orElse(SHARED);
        return name.equals(SHARED) ? List.of(ROOT + "/" + SHARED) : List.of(ROOT + "/" + SHARED, ROOT + "/" + name);
    }

    private static NodePath path(ConfigDataLocation location, String path) {
        try {
            return NodePath.of(path);
        } catch (IllegalArgumentException e) {
            throw new ConfigImportException(
                    "Cannot import \"" + location + "\": " + e.getMessage(),
                    "Write conclave: for /config/<spring.application.name> and /config/application, or conclave:/path.",
                    e);
        }
    }
}
