package io.conclave.tree;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The quota of a subtree: the numbers of two znodes below {@code /zookeeper/quota}. There is a quota on {@code /a}
 * while there is a {@code /zookeeper/quota/a/zookeeper_limits}; what is used stands in {@code zookeeper_stats} beside
 * it. Nothing else is known of quotas, so a state that is read from a snapshot goes on as the one that was written.
 */
public final class Quota {
    static final String DIRECTORY = "/zookeeper/quota";
    static final String LIMITS = "zookeeper_limits";
    static final String STATS = "zookeeper_stats";

    private final String top;
    private final QuotaText limits;
    private final QuotaText usage;

    private Quota(String top, QuotaText limits, QuotaText usage) {
        this.top = top;
        this.limits = limits;
        this.usage = usage;
    }

    /** The quota that a path counts for, if it can be read. Steps along the path, whatever there is below it. */
    public static Optional<Quota> of(TreeState state, String path) {
        return state.featureLevel() < Change.QUOTA_FEATURE_LEVEL ? Optional.empty() : of(state.root(), path);
    }

    static Optional<Quota> of(Znode root, String path) {
        String top = topOf(root, path);
        if (top == null) {
            return Optional.empty();
        }
        return text(root, DIRECTORY + top + '/' + LIMITS)
                .flatMap(limits -> text(root, statsOf(top)).map(usage -> new Quota(top, limits, usage)));
    }

    private static Optional<QuotaText> text(Znode root, String path) {
        Znode node = Trail.find(root, path);
        return node == null ? Optional.empty() : QuotaText.parse(node.data());
    }

    /** The longest beginning of a path that has a quota. Null if there is none, and for what is ZooKeeper's own. */
    static @Nullable String topOf(Znode root, String path) {
        Znode node = Trail.find(root, DIRECTORY);
        if (node == null || node.children().isEmpty() || isOwn(path)) {
            return null;
        }
        int end = 0;
        for (int start = 1; start <= path.length(); ) {
            int slash = path.indexOf('/', start);
            int next = slash < 0 ? path.length() : slash;
            node = node.children().get(path.substring(start, next));
            if (node == null) {
                break;
            }
            if (node.children().containsKey(LIMITS)) {
                end = next;
            }
            start = next + 1;
        }
        return end == 0 ? null : path.substring(0, end);
    }

    private static boolean isOwn(String path) {
        return path.equals("/zookeeper") || path.startsWith("/zookeeper/");
    }

    /** The znode with the usage of a subtree. */
    static String statsOf(String top) {
        return DIRECTORY + top + '/' + STATS;
    }

    /** Whether a subtree is counted when the znode is created: a walk over all of it. */
    public static boolean isCountedBehind(String path) {
        return topOfStats(path) != null;
    }

    /** The subtree whose usage a znode is about, null for all other znodes. There is none for the whole tree. */
    static @Nullable String topOfStats(String path) {
        int end = path.length() - STATS.length() - 1;
        if (end <= DIRECTORY.length() || !path.startsWith(DIRECTORY + '/') || !path.endsWith('/' + STATS)) {
            return null;
        }
        String top = path.substring(DIRECTORY.length(), end);
        return isOwn(top) ? null : top;
    }

    /** The znodes with usages that have limits beside them, in an order that all members find. */
    static List<String> allStats(Znode root) {
        record Visit(String path, Znode node) {}
        Deque<Visit> pending = new ArrayDeque<>();
        Znode directory = Trail.find(root, DIRECTORY);
        if (directory != null) {
            pending.push(new Visit(DIRECTORY, directory));
        }
        List<String> paths = new ArrayList<>();
        while (!pending.isEmpty()) {
            Visit visit = pending.pop();
            PersistentMap<String, Znode> children = visit.node.children();
            if (children.containsKey(LIMITS) && children.containsKey(STATS)) {
                paths.add(visit.path + '/' + STATS);
            }
            children.forEach((name, child) -> pending.push(new Visit(visit.path + '/' + name, child)));
        }
        paths.sort(null);
        return paths;
    }

    /** What there is at a path and below it, by a walk over all of it. */
    static QuotaText counted(Znode root, String path) {
        long count = 0;
        long bytes = 0;
        Deque<Znode> pending = new ArrayDeque<>();
        Znode top = Trail.find(root, path);
        if (top != null) {
            pending.push(top);
        }
        while (!pending.isEmpty()) {
            Znode node = pending.pop();
            count++;
            bytes += node.dataLength();
            node.children().forEach((name, child) -> pending.push(child));
        }
        return QuotaText.of(count, bytes);
    }

    /**
     * Whether a write goes beyond a hard limit, as ZooKeeper decides it: a sum that does not change is not looked at.
     */
    boolean refuses(long moreCount, long moreBytes) {
        return (moreCount != 0 && isBeyond(usage.count() + moreCount, limits.countHardLimit()))
                || (moreBytes != 0 && isBeyond(usage.bytes() + moreBytes, limits.byteHardLimit()));
    }

    /** Whether more is used than a limit allows, soft or hard. */
    public boolean isExceeded() {
        return isBeyond(usage.count(), limits.count())
                || isBeyond(usage.count(), limits.countHardLimit())
                || isBeyond(usage.bytes(), limits.bytes())
                || isBeyond(usage.bytes(), limits.byteHardLimit());
    }

    private static boolean isBeyond(long used, long limit) {
        return limit > QuotaText.NONE && used > limit;
    }

    /** Path, usage and limits, for a line of the log. */
    @Override
    public String toString() {
        return top + " [used " + usage + ", limits " + limits + "]";
    }
}
