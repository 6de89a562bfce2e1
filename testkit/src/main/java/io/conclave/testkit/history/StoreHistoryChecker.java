package io.conclave.testkit.history;

import io.conclave.testkit.history.StoreOperation.Kind;
import io.conclave.testkit.history.StoreOperation.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tells whether a history is one of a store that keeps ZooKeeper's promises, given what the store holds in the end.
 *
 * <ul>
 *   <li>Writes are linearizable: what was acknowledged before another was submitted has the smaller zxid; no zxid is
 *       given twice; versions of a znode and sequence numbers below a parent grow with the zxids.
 *   <li>A session's writes take effect in the order in which it submitted them.
 *   <li>What was acknowledged is there in the end, and nothing was applied twice or without a request.
 *   <li>What a session sees never goes back behind what it has seen or written, on any server.
 *   <li>The event of a watch comes before the session sees the change, and it does come.
 * </ul>
 *
 * <p>A request of unknown outcome may have been applied, once, at any time after its submission.
 */
public final class StoreHistoryChecker {
    private static final int SEQUENCE_DIGITS = 10;
    private static final int MAX_REPORTS_OF_A_RULE = 10;

    private final StoreHistory history;
    private final List<StoreOperation> operations;
    private final Map<String, FinalNode> finalNodes;
    private final Map<String, TreeMap<Long, StoreOperation>> answeredWrites = new HashMap<>();
    private final Map<Long, StoreOperation> writesOfValues = new HashMap<>();
    private final List<Violation> violations = new ArrayList<>();

    /** The rules that a history can break. */
    public enum Rule {
        /** An acknowledged write is not there in the end. */
        LOST,
        /** A write was applied more than once, or there is one without a request. */
        NOT_ONCE,
        /** Two writes have the same zxid. */
        ZXID_REPEATED,
        /** A write has a smaller zxid than one that was acknowledged before it was submitted. */
        WENT_BACK,
        /** A session's writes took effect in another order than it submitted them. */
        SESSION_ORDER,
        /** Versions or sequence numbers do not grow with the zxids. */
        VERSION,
        /** A read found what was never written, or what does not belong to its zxid. */
        READ,
        /** A session saw an older state than it had seen. */
        STALE,
        /** A change was seen before the event of the watch that was set for it. */
        WATCH_OVERTAKEN,
        /** The event of a watch never came. */
        WATCH_LOST,
        /** What was recorded as a violation. */
        OTHER
    }

    /**
     * A broken rule.
     *
     * @param rule which
     * @param report what happened
     */
    public record Violation(Rule rule, String report) {
        @Override
        public String toString() {
            return rule + ": " + report;
        }
    }

    /**
     * A znode as it is in the end.
     *
     * @param value the value that it holds
     * @param mzxid the change that set it
     * @param version how often it was set
     */
    public record FinalNode(long value, long mzxid, int version) {}

    private StoreHistoryChecker(StoreHistory history, Map<String, FinalNode> finalNodes) {
        this.history = history;
        this.operations = history.operations();
        this.finalNodes = finalNodes;
    }

    /**
     * The rules that the history breaks; none if it is that of a good store. At most ten reports of each rule.
     *
     * @param finalNodes every znode that the clients worked on, by path, read when all requests had ended; those that
     *     were set existed with version 0 before the first request
     */
    public static List<Violation> check(StoreHistory history, Map<String, FinalNode> finalNodes) {
        StoreHistoryChecker checker = new StoreHistoryChecker(history, finalNodes);
        checker.history.otherViolations().forEach(report -> checker.violate(Rule.OTHER, report));
        checker.collect();
        checker.checkRealTime();
        checker.checkSessionOrder();
        checker.checkVersions();
        checker.checkSequences();
        checker.checkFinalNodes();
        checker.checkReads();
        checker.checkWatches();
        return checker.violations;
    }

    private void collect() {
        Map<Long, StoreOperation> zxids = new HashMap<>();
        for (StoreOperation operation : operations) {
            if (operation.isWrite()) {
                writesOfValues.put(operation.value, operation);
            }
            if (operation.isWrite() && operation.isAnswered()) {
                StoreOperation other = zxids.put(operation.zxid, operation);
                if (other != null) {
                    violate(Rule.ZXID_REPEATED, other + " and " + operation);
                }
                answeredWrites
                        .computeIfAbsent(operation.path, path -> new TreeMap<>())
                        .put(operation.zxid, operation);
            }
        }
    }

    private List<StoreOperation> answeredWritesBy(Comparator<StoreOperation> order) {
        return operations.stream()
                .filter(operation -> operation.isWrite() && operation.isAnswered())
                .sorted(order)
                .toList();
    }

    private void checkRealTime() {
        List<StoreOperation> byEnd = answeredWritesBy(Comparator.comparingLong(write -> write.endedAt));
        StoreOperation largest = null;
        int next = 0;
        for (StoreOperation write : answeredWritesBy(Comparator.comparingLong(write -> write.submittedAt))) {
            while (byEnd.get(next).endedAt < write.submittedAt) {
                if (largest == null || byEnd.get(next).zxid > largest.zxid) {
                    largest = byEnd.get(next);
                }
                next++;
            }
            if (largest != null && write.zxid <= largest.zxid) {
                violate(Rule.WENT_BACK, write + " was submitted after the answer of " + largest);
            }
        }
    }

    private void checkSessionOrder() {
        Map<StoreOperation, Long> revealed = revealedZxids();
        Map<String, StoreOperation> last = new HashMap<>();
        operations.stream()
                .filter(operation -> operation.isWrite() && (operation.isAnswered() || revealed.containsKey(operation)))
                .sorted(Comparator.comparingLong(write -> write.submittedAt))
                .forEach(write -> {
                    StoreOperation before = last.put(write.session, write);
                    if (before != null
                            && revealed.getOrDefault(before, before.zxid) >= revealed.getOrDefault(write, write.zxid)) {
                        violate(Rule.SESSION_ORDER, before + " and then " + write);
                    }
                });
    }

    /** The zxids of writes without an answer that were read, or that are there in the end. */
    private Map<StoreOperation, Long> revealedZxids() {
        Map<StoreOperation, Long> revealed = new HashMap<>();
        operations.stream()
                .filter(operation -> !operation.isWrite() && operation.isAnswered())
                .forEach(read -> reveal(read.value, read.zxid, revealed));
        finalNodes.values().forEach(node -> reveal(node.value, node.mzxid, revealed));
        return revealed;
    }

    private void reveal(long value, long zxid, Map<StoreOperation, Long> revealed) {
        StoreOperation write = writesOfValues.get(value);
        if (write != null && write.outcome == Outcome.UNKNOWN) {
            revealed.put(write, zxid);
        }
    }

    private void checkVersions() {
        answeredWrites.forEach((path, writes) -> {
            StoreOperation before = null;
            for (StoreOperation write : writes.values()) {
                if (write.kind == Kind.SET && before != null && before.version >= write.version) {
                    violate(Rule.VERSION, before + " and then " + write);
                }
                before = write;
            }
        });
    }

    private void checkSequences() {
        Map<String, List<StoreOperation>> byParent = operations.stream()
                .filter(operation -> operation.kind == Kind.CREATE && operation.isAnswered())
                .collect(Collectors.groupingBy(StoreHistoryChecker::parentOf));
        byParent.values().forEach(creations -> {
            StoreOperation before = null;
            creations.sort(Comparator.comparingLong(creation -> creation.zxid));
            for (StoreOperation creation : creations) {
                if (before != null && sequenceOf(before) >= sequenceOf(creation)) {
                    violate(Rule.VERSION, before + " and then " + creation);
                }
                before = creation;
            }
        });
    }

    private static String parentOf(StoreOperation creation) {
        return creation.path.substring(0, creation.path.lastIndexOf('/'));
    }

    private static long sequenceOf(StoreOperation creation) {
        return Long.parseLong(creation.path.substring(creation.path.length() - SEQUENCE_DIGITS));
    }

    private void checkFinalNodes() {
        Map<String, List<StoreOperation>> setsByPath = operations.stream()
                .filter(operation -> operation.kind == Kind.SET && operation.outcome != Outcome.REFUSED)
                .collect(Collectors.groupingBy(operation -> operation.path));
        setsByPath.forEach(this::checkFinalValue);
        answeredWrites.forEach((path, writes) -> {
            if (!finalNodes.containsKey(path)) {
                violate(Rule.LOST, writes.lastEntry().getValue() + ": the znode is gone");
            }
        });
        Set<Long> createdValues = new HashSet<>();
        finalNodes.forEach((path, node) -> {
            if (!setsByPath.containsKey(path) && node.version == 0 && node.value != 0) {
                checkFinalCreation(path, node, createdValues);
            }
        });
    }

    private void checkFinalValue(String path, List<StoreOperation> sets) {
        FinalNode node = finalNodes.get(path);
        if (node == null) {
            return; // reported by the check for lost znodes
        }
        long answered = sets.stream().filter(StoreOperation::isAnswered).count();
        if (node.version < answered) {
            violate(Rule.LOST, path + " is at version " + node.version + " after " + answered + " acknowledged sets");
        }
        if (node.version > sets.size()) {
            violate(Rule.NOT_ONCE, path + " is at version " + node.version + " after " + sets.size() + " sets");
        }
        checkOrigin(Rule.NOT_ONCE, path, node, "in the end");
        TreeMap<Long, StoreOperation> writes = answeredWrites.get(path);
        if (writes != null && writes.lastKey() > node.mzxid) {
            violate(Rule.LOST, writes.lastEntry().getValue() + ": in the end it is " + node);
        }
    }

    private void checkFinalCreation(String path, FinalNode node, Set<Long> createdValues) {
        StoreOperation creation = writesOfValues.get(node.value);
        if (creation == null || creation.kind != Kind.CREATE || creation.outcome == Outcome.REFUSED) {
            violate(Rule.NOT_ONCE, path + " was created without a request: " + node);
        } else if (!createdValues.add(node.value)) {
            violate(Rule.NOT_ONCE, "there are two znodes of " + creation + ", one is " + path);
        } else if (creation.isAnswered() && !creation.path.equals(path)) {
            violate(Rule.NOT_ONCE, creation + " is at " + path);
        } else if (creation.isAnswered() && creation.zxid != node.mzxid) {
            violate(Rule.LOST, creation + " has become " + node);
        }
    }

    /** A value and its zxid must come from one write, of this path, that may have been applied. */
    private void checkOrigin(Rule rule, String path, FinalNode node, String who) {
        TreeMap<Long, StoreOperation> writes = answeredWrites.getOrDefault(path, new TreeMap<>());
        StoreOperation sameZxid = writes.get(node.mzxid);
        if (sameZxid != null) {
            if (sameZxid.value != node.value || sameZxid.version != node.version) {
                violate(rule, sameZxid + " is " + node + " " + who);
            }
            return;
        }
        if (node.version == 0) {
            return; // the state before the first write
        }
        StoreOperation origin = writesOfValues.get(node.value);
        if (origin == null || !origin.path.equals(path) || origin.outcome == Outcome.REFUSED || origin.isAnswered()) {
            violate(
                    rule,
                    path + " is " + node + " " + who + ", which " + (origin == null ? "was never written" : origin));
        }
    }

    private void checkReads() {
        Map<String, Long> seen = new HashMap<>();
        List<StoreOperation> answered = operations.stream()
                .filter(StoreOperation::isAnswered)
                .sorted(Comparator.comparingLong(operation -> operation.endedAt))
                .toList();
        for (StoreOperation operation : answered) {
            long before = seen.getOrDefault(operation.session, 0L);
            if (!operation.isWrite()) {
                checkOrigin(
                        Rule.READ,
                        operation.path,
                        new FinalNode(operation.value, operation.zxid, operation.version),
                        "as read by " + operation.session);
                TreeMap<Long, StoreOperation> writes = answeredWrites.getOrDefault(operation.path, new TreeMap<>());
                Map.Entry<Long, StoreOperation> newest = writes.floorEntry(before);
                if (newest != null && newest.getKey() > operation.zxid) {
                    violate(
                            Rule.STALE,
                            operation + ", but the session had seen 0x" + Long.toHexString(before) + " and so "
                                    + newest.getValue());
                }
            }
            seen.merge(operation.session, operation.zxid, Math::max);
        }
    }

    private void checkWatches() {
        Map<String, List<StoreOperation>> bySession =
                operations.stream().collect(Collectors.groupingBy(operation -> operation.session));
        bySession.forEach((session, own) -> {
            Map<String, List<StoreOperation>> byPath = own.stream()
                    .filter(StoreOperation::isAnswered)
                    .sorted(Comparator.comparingLong(operation -> operation.endedAt))
                    .collect(Collectors.groupingBy(operation -> operation.path));
            byPath.values().forEach(this::checkOvertaken);
            if (!history.isLost(session)) {
                own.forEach(this::checkFired);
            }
        });
    }

    /**
     * What a session got to know of one path, in order: after a watch was set, nothing newer may come before its event.
     */
    private void checkOvertaken(List<StoreOperation> answered) {
        for (int i = 0; i < answered.size(); i++) {
            StoreOperation watch = answered.get(i);
            if (watch.kind != Kind.WATCH) {
                continue;
            }
            for (int later = i + 1; later < answered.size() && answered.get(later).endedAt < watch.firedAt; later++) {
                if (answered.get(later).zxid > watch.zxid) {
                    violate(Rule.WATCH_OVERTAKEN, watch + " saw its event after " + answered.get(later));
                    break;
                }
            }
        }
    }

    private void checkFired(StoreOperation watch) {
        if (watch.kind != Kind.WATCH || !watch.isAnswered() || watch.hasFired()) {
            return;
        }
        @Nullable FinalNode node = finalNodes.get(watch.path);
        if (node == null || node.mzxid > watch.zxid) {
            violate(Rule.WATCH_LOST, watch + ": in the end it is " + (node == null ? "gone" : node));
        }
    }

    private void violate(Rule rule, String report) {
        Map<Rule, Long> counts =
                violations.stream().collect(Collectors.groupingBy(Violation::rule, Collectors.counting()));
        if (counts.getOrDefault(rule, 0L) < MAX_REPORTS_OF_A_RULE) {
            violations.add(new Violation(rule, report));
        }
    }
}
