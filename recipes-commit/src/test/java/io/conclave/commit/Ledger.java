package io.conclave.commit;

import io.conclave.node.Bytes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * What a site has on its disk: what it has prepared, and what became of it. It outlives the site's processes, and notes
 * what must not be.
 */
final class Ledger {
    private final String site;
    private final Predicate<String> accepts;
    private final Set<String> prepared = ConcurrentHashMap.newKeySet();
    private final Map<String, Bytes> payloads = new ConcurrentHashMap<>(); // of what it was asked to prepare
    private final Map<String, Boolean> outcomes = new ConcurrentHashMap<>();
    private final Set<String> inDoubt = ConcurrentHashMap.newKeySet();
    private final List<String> violations = new CopyOnWriteArrayList<>();
    private volatile boolean isShared;

    /** A ledger that votes to commit those transactions that the predicate accepts. */
    Ledger(String site, Predicate<String> accepts) {
        this.site = site;
        this.accepts = accepts;
    }

    static Ledger willing(String site) {
        return new Ledger(site, id -> true);
    }

    String site() {
        return site;
    }

    /** A process of the site, which works on the ledger while it is alive. */
    Participant participant() {
        return new Participant() {
            @Override
            public Vote prepare(TransactionPart transaction) {
                // After an abort it may be asked again, if it had not voted: each call may be repeated.
                if (outcomes.getOrDefault(transaction.id(), false) && !isShared) {
                    violations.add(site + " is asked to prepare " + transaction.id() + ", which it has committed");
                }
                if (!accepts.test(transaction.id())) {
                    return Vote.ABORT;
                }
                payloads.put(transaction.id(), transaction.bytes());
                prepared.add(transaction.id());
                inDoubt.add(transaction.id());
                return Vote.COMMIT;
            }

            @Override
            public void commit(TransactionPart transaction) {
                if (!prepared.contains(transaction.id())) {
                    violations.add(site + " commits " + transaction.id() + ", which it has not prepared");
                }
                end(transaction, true);
            }

            @Override
            public void abort(TransactionPart transaction) {
                end(transaction, false);
            }
        };
    }

    /**
     * Two processes of the site work on it. One that was stopped before it called its participant does so when the
     * other has finished; nobody can keep it from that.
     */
    void share() {
        isShared = true;
    }

    private void end(TransactionPart transaction, boolean isCommit) {
        String id = transaction.id();
        if (!transaction.bytes().equals(payloads.getOrDefault(id, transaction.bytes()))) {
            violations.add(site + " is told the end of " + id + " with another payload than it has prepared");
        }
        inDoubt.remove(id);
        Boolean before = outcomes.put(id, isCommit);
        if (before != null && before != isCommit) {
            violations.add(site + " committed and aborted " + id);
        }
    }

    /** Whether it was committed; empty if it has not heard. */
    Optional<Boolean> outcome(String id) {
        return Optional.ofNullable(outcomes.get(id));
    }

    /** A process of the site takes no part any more, and hears of nothing. */
    void leave() {
        inDoubt.clear();
    }

    /** What was prepared, and neither committed nor aborted since. */
    Set<String> inDoubt() {
        return inDoubt;
    }

    List<String> violations() {
        return violations;
    }

    @Override
    public String toString() {
        return site + " prepared " + prepared + ", committed " + outcomes;
    }
}
