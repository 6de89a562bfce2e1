package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.RefusedException;
import io.conclave.mirror.Mirror;
import io.conclave.mirror.MirrorScope;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
    private final Rebinding rebinding;
    private final Object turn; // so that no older state comes after a newer one, nor is bound later; before lock
    private final Object lock = new Object();
    private final Map<Connection, Coordinator> coordinators = new HashMap<>(); // guarded by lock
    private final List<Followed> followed = new ArrayList<>(); // guarded by lock
    private boolean running; // guarded by lock

    private record Connection(
            String location, String connectString, @Nullable String namespace) {}

    /** Binds beans again when properties are different. */
    interface Rebinding {
        /** A thread holds its monitor while it brings changes into the environment and binds beans. */
        Object turn();

        void rebind(Set<String> keys);
    }

    private static final class Followed {
        final String name;
        TreePropertySource source; // the last that was seen in the environment; guarded by turn
        Mirror mirror; // guarded by turn; changed under lock as well

        Followed(TreePropertySource source, Mirror mirror) {
            this.name = source.getName();
            this.source = source;
            this.mirror = mirror;
        }
    }

    ConfigRefresh(ConfigurableEnvironment environment, ApplicationEventPublisher events, Rebinding rebinding) {
        this.environment = environment;
        this.events = events;
        this.rebinding = rebinding;
        this.turn = rebinding.turn();
    }

    /** Never blocks: it connects in the background. */
    @Override
    public void start() {
        synchronized (lock) {
            if (running) {
                return;
            }
            running = true;
            followNewOnes();
        }
    }

    private void followNewOnes() { // under lock
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (source instanceof TreePropertySource tree
                    && followed.stream().noneMatch(one -> one.name.equals(tree.getName()))) {
                follow(tree);
            }
        }
    }

    private void follow(TreePropertySource tree) {
        Followed next = new Followed(tree, mirrorOf(tree));
        followed.add(next);
        next.mirror.listen(changes -> update(next));
    }

    private Mirror mirrorOf(TreePropertySource tree) {
        return Mirror.ofTransactions(coordinatorOf(tree.getSource()), tree.root(), MirrorScope.SUBTREE);
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
     * Spring Cloud may have read all imports anew, or tried to, and may have found further ones. Blocks as long as the
     * listeners of {@link ConfigChangedEvent} do.
     */
    void update() {
        List<Followed> all;
        synchronized (lock) {
            if (running) {
                followNewOnes();
            }
            all = List.copyOf(followed);
        }
        all.forEach(this::update);
    }

    private void update(Followed tree) {
        Set<String> changed;
        synchronized (turn) {
            changed = take(tree);
            if (changed.isEmpty()) {
                return;
            }
            LOG.info("{}: changed: {}", tree.name, changed);
            try {
                rebinding.rebind(changed);
            } catch (RuntimeException | Error e) {
                LOG.error("{}: beans could not be bound again", tree.name, e);
            }
        }
        try {
            events.publishEvent(new ConfigChangedEvent(this, changed));
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a listener of ConfigChangedEvent failed", tree.name, e);
        }
    }

    /** Lets the environment have what the mirror has; the keys that are different then. */
    private Set<String> take(Followed tree) { // under turn
        takeUpPresentSource(tree);
        if (tree.mirror.number() == 0) {
            return Set.of(); // its first state will be told
        }
        try {
            return tree.source.replace(tree.mirror);
        } catch (ConfigImportException | RefusedException e) {
            LOG.error("{}: the values of before stand. {}", tree.name, e.getMessage());
            return Set.of();
        }
    }

    /**
     * Spring Cloud's refresh puts another source of the same name in the place of the one before. If it could not read
     * the tree, the values of before stand. If it could, they may be newer than what the mirror has.
     */
    @SuppressWarnings("ReferenceEquality") // sources of the same name are equal
    private void takeUpPresentSource(Followed tree) { // under turn
        PropertySource<?> found = environment.getPropertySources().get(tree.name);
        if (found == tree.source || !(found instanceof TreePropertySource present)) {
            return;
        }
        if (present.isRead()) {
            followAnew(tree, present);
        } else {
            present.takeOver(tree.source);
        }
        tree.source = present;
    }

    private void followAnew(Followed tree, TreePropertySource present) {
        synchronized (lock) {
            if (running) {
                tree.mirror.close();
                tree.mirror = mirrorOf(present);
                tree.mirror.listen(changes -> update(tree));
            }
        }
    }

    @Override
    public void stop() {
        synchronized (lock) {
            running = false;
            followed.forEach(tree -> tree.mirror.close());
            followed.clear();
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
