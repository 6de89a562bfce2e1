package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * Follows the trees of znodes that were imported as properties, as long as the application runs. It connects as the
 * import did, for the application's coordinator may be another one. While the connection is away the last values stand;
 * on the next connection or session all is compared again.
 */
final class ConfigRefresh implements SmartLifecycle {
    private static final Logger LOG = LoggerFactory.getLogger(ConfigRefresh.class);

    private final ConfigurableEnvironment environment;
    private final ApplicationEventPublisher events;
    private final Object lock = new Object();
    private final Object taking = new Object(); // so that no older state comes after a newer one
    private final Map<Connection, Coordinator> coordinators = new HashMap<>(); // guarded by lock
    private final Map<String, Mirror> mirrors = new HashMap<>(); // by the name of the source; guarded by lock
    private boolean running; // guarded by lock

    private record Connection(
            String location, String connectString, @Nullable String namespace) {}

    ConfigRefresh(ConfigurableEnvironment environment, ApplicationEventPublisher events) {
        this.environment = environment;
        this.events = events;
    }

    /** Never blocks: it connects in the background. */
    @Override
    public void start() {
        synchronized (lock) {
            if (running) {
                return;
            }
            running = true;
            for (PropertySource<?> source : environment.getPropertySources()) {
                if (source instanceof TreePropertySource tree) {
                    follow(tree);
                }
            }
        }
    }

    private void follow(TreePropertySource tree) {
        Mirror mirror = Mirror.ofTransactions(coordinatorOf(tree.getSource()), tree.root(), MirrorScope.SUBTREE);
        mirrors.put(tree.getName(), mirror);
        mirror.listen(changes -> update(tree.getName(), mirror));
    }

    private Coordinator coordinatorOf(ConfigTrees trees) {
        ConclaveProperties properties = trees.properties();
        String connectString = Objects.requireNonNull(properties.getConnectString()); // it was imported with it
        return coordinators.computeIfAbsent(
                new Connection(trees.location().getValue(), connectString, properties.getNamespace()),
                connection -> new CoordinatorSettings(properties)
                        .builder(connectString)
                        .start());
    }

    /**
     * Spring Cloud has read all imports anew: it may have read less than is known here, or an older state. Does nothing
     * for a tree of which nothing is known yet. Blocks as long as the listeners of {@link ConfigChangedEvent} do.
     */
    void update() {
        Map<String, Mirror> present;
        synchronized (lock) {
            present = Map.copyOf(mirrors);
        }
        present.forEach((name, mirror) -> {
            if (mirror.number() > 0) {
                update(name, mirror);
            }
        });
    }

    private void update(String name, Mirror mirror) {
        // Spring Cloud's refresh puts another source of the same name in its place
        if (!(environment.getPropertySources().get(name) instanceof TreePropertySource tree)) {
            return;
        }
        Set<String> changed;
        try {
            synchronized (taking) {
                changed = tree.replace(mirror);
            }
        } catch (ConfigImportException | RefusedException e) {
            LOG.error("{}: the values of before stand. {}", name, e.getMessage());
            return;
        }
        if (changed.isEmpty()) {
            return;
        }
        LOG.info("{}: changed: {}", name, changed);
        try {
            events.publishEvent(new ConfigChangedEvent(this, changed));
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a listener of ConfigChangedEvent failed", name, e);
        }
    }

    @Override
    public void stop() {
        synchronized (lock) {
            running = false;
            mirrors.values().forEach(Mirror::close);
            mirrors.clear();
            coordinators.values().forEach(Coordinator::close);
            coordinators.clear();
        }
    }

    @Override
    public boolean isRunning() {
        synchronized (lock) {
            return running;
        }
    }
}
