package io.conclave.spring.boot;

import io.conclave.cache.CachedNode;
import io.conclave.error.RefusedException;
import io.conclave.mirror.Mirror;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.EnumerablePropertySource;

/**
 * The properties of one tree of znodes, which are replaced as a whole. The levels below the root become parts of the
 * key; a znode with children is a property if it has data. Thread-safe.
 */
final class TreePropertySource extends EnumerablePropertySource<ConfigTrees> {
    /** What servers keep of their own, at the root of all. */
    private static final NodePath SERVERS_OWN = NodePath.of("/zookeeper");

    private final NodePath root;
    private final boolean isRootOfAll;
    private volatile Properties properties = new Properties(Map.of(), new String[0]);
    private volatile boolean read;

    /** @param names one array for as long as the values stand: Boot looks whether it is another one */
    private record Properties(Map<String, String> values, String[] names) {}

    /** Empty at first. */
    TreePropertySource(ConfigTrees trees, NodePath root) {
        super(trees.location().getValue() + " " + root, trees);
        this.root = root;
        this.isRootOfAll = root.isRoot() && trees.seesRootOfAll();
    }

    NodePath root() {
        return root;
    }

    /** Whether its values were ever read; else it is empty because the tree could not be read. */
    boolean isRead() {
        return read;
    }

    /** Takes over what another source of the same tree has. */
    void takeOver(TreePropertySource other) {
        properties = other.properties;
        read = other.read;
    }

    /**
     * Takes over what the tree has now.
     *
     * @return the keys that have another value now, came or went
     * @throws ConfigImportException if the data of a znode are no text, naming it; then nothing is taken over
     * @throws RefusedException if a znode may not be read, naming it; likewise
     */
    Set<String> replace(Mirror tree) {
        Map<String, String> before = properties.values;
        Map<String, String> after =
                valuesOf(tree.wholeState(path -> !isServersOwn(path)).nodes().values());
        read = true;
        Set<String> changed = new TreeSet<>(before.keySet());
        changed.addAll(after.keySet());
        changed.removeIf(key -> Objects.equals(before.get(key), after.get(key)));
        if (!changed.isEmpty()) {
            properties = new Properties(after, after.keySet().toArray(String[]::new));
        }
        return changed;
    }

    private Map<String, String> valuesOf(Collection<CachedNode> nodes) {
        Map<String, String> values = new TreeMap<>();
        Set<NodePath> parents =
                nodes.stream().flatMap(node -> node.path().parent().stream()).collect(Collectors.toSet());
        for (CachedNode node : nodes) {
            boolean isLevel = node.data().length == 0 && parents.contains(node.path());
            if (!node.path().equals(root) && !isLevel && !isServersOwn(node.path())) {
                String below = node.path()
                        .toString()
                        .substring(root.isRoot() ? 1 : root.toString().length() + 1);
                values.put(below.replace('/', '.'), text(node));
            }
        }
        return values;
    }

    private boolean isServersOwn(NodePath path) {
        return isRootOfAll && (path.equals(SERVERS_OWN) || path.toString().startsWith(SERVERS_OWN + "/"));
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

    @Override
    public String[] getPropertyNames() {
        return properties.names;
    }

    @Override
    public @Nullable Object getProperty(String name) {
        return properties.values.get(name);
    }

    @Override
    public boolean containsProperty(String name) {
        return properties.values.containsKey(name);
    }
}
