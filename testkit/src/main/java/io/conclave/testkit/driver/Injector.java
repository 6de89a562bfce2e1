package io.conclave.testkit.driver;

import io.conclave.node.NodePath;
import io.conclave.node.NodeStat;
import io.conclave.request.Delete;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import io.conclave.testkit.memory.RequestFate;
import io.conclave.testkit.memory.RequestHook;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts the victim's requests and strikes where the plan says. Called under the store's lock, and by the pump when
 * everybody waits; its own lock comes after the store's.
 */
final class Injector implements RequestHook {
    /** The session that the faults meet. */
    interface Victim {
        /** Interrupts its calling threads; whether there was one. */
        boolean interrupt();

        /** Its session was ended by the server. */
        void sessionEnded();

        /** One of its znodes is about to be deleted by an operator or a rival. */
        void nodeDeleted(long czxid);

        /** Whether it may still go away while a rival acts: not when the run is over but for checks. */
        boolean mayGoAway();
    }

    private final MemoryStore store;
    private final Faults faults;
    private final Plan plan;
    private final Victim victim;
    private final Duration partition;
    private final Rivals rivals;
    private final Set<Long> bystanders = ConcurrentHashMap.newKeySet();
    private final Set<Long> rivalSessions = ConcurrentHashMap.newKeySet();
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final Set<Long> sessions = ConcurrentHashMap.newKeySet();
    private final List<Plan.Strike> armed = new ArrayList<>();
    private final Set<Fault> struck = EnumSet.noneOf(Fault.class);
    private final List<String> requests = new ArrayList<>();
    private long lastSession;

    Injector(MemoryStore store, Plan plan, Victim victim, Duration partition, Rivals rivals) {
        this.store = store;
        this.faults = store.faults();
        this.plan = plan;
        this.victim = victim;
        this.partition = partition;
        this.rivals = rivals;
    }

    /** The requests of this session are not counted. */
    void spare(long sessionId) {
        bystanders.add(sessionId);
    }

    /** The requests of this session are a rival's. */
    void spareRival(long sessionId) {
        rivalSessions.add(sessionId);
        spare(sessionId);
    }

    @Override
    public RequestFate onRequest(long sessionId, Request<?> request, long storeIndex) {
        if (bystanders.contains(sessionId)) {
            if (rivalSessions.contains(sessionId)) {
                noteDeletions(request);
            }
            return RequestFate.PROCEED;
        }
        boolean mayGoAway = victim.mayGoAway();
        List<Plan.Strike> now = new ArrayList<>();
        List<Fault> absences = new ArrayList<>();
        RequestFate fate = RequestFate.PROCEED;
        synchronized (lock) {
            sessions.add(sessionId);
            lastSession = sessionId;
            int index = requests.size();
            requests.add(request.describe());
            for (Plan.Strike strike : plan.strikes()) {
                if (strike.index() == index && (mayGoAway || !strike.fault().isAbsence())) {
                    if (strike.fault().isAbsence() && !strike.fault().isAtRest()) {
                        absences.add(strike.fault());
                        struck.add(strike.fault());
                    }
                    (strike.fault().continuesAtRest() ? armed : now).add(strike);
                    fate = later(fate, strike.fault());
                }
            }
        }
        absences.forEach(rivals::begin);
        now.forEach(this::strike);
        return fate;
    }

    /** A rival may delete the victim's znodes, as an operator may: what the victim held is free from then on. */
    private void noteDeletions(Request<?> request) {
        if (request instanceof Multi multi) {
            multi.operations().forEach(this::noteDeletions);
        } else if (request instanceof Delete delete) {
            NodeStat stat = store.snapshot().get(delete.path());
            if (stat != null && sessions.contains(stat.ephemeralOwner())) {
                note(Fault.DELETE);
                victim.nodeDeleted(stat.czxid());
            }
        }
    }

    /** The run is to be judged as if this had struck, too. */
    void note(Fault fault) {
        synchronized (lock) {
            struck.add(fault);
        }
    }

    /** Of two that decide, the second one. */
    private static RequestFate later(RequestFate fate, Fault fault) {
        RequestFate own = fault.fate().orElse(RequestFate.PROCEED);
        return own == RequestFate.PROCEED ? fate : own;
    }

    /** Strikes with what was waiting for everybody to wait; whether there was anything. */
    boolean strikeAtRest() {
        List<Plan.Strike> now;
        synchronized (lock) {
            now = List.copyOf(armed);
            armed.clear();
        }
        long sessionId = sessionOfNow();
        for (Plan.Strike strike : now) {
            if (strike.fault().isAbsence()) {
                leave(strike, sessionId);
                continue;
            }
            strike(strike);
            if (strike.fault() == Fault.EXPIRE_AT_REST) {
                faults.expire(sessionId);
            } else if (strike.fault() == Fault.STALL_AND_INTERRUPT) {
                arm(new Plan.Strike(strike.index(), Fault.STALL, strike.reconnectDelay()));
            } else if (strike.fault().drops()) {
                faults.drop(sessionId);
            }
        }
        return !now.isEmpty();
    }

    private void leave(Plan.Strike strike, long sessionId) {
        if (strike.fault().isAtRest()) {
            if (!victim.mayGoAway()) {
                return;
            }
            note(strike.fault());
            rivals.begin(strike.fault());
        }
        rivals.act(strike, sessionId);
    }

    private void arm(Plan.Strike strike) {
        synchronized (lock) {
            armed.add(strike);
        }
    }

    private void strike(Plan.Strike strike) {
        Fault fault = strike.fault();
        boolean isFirst;
        synchronized (lock) {
            isFirst = struck.add(fault); // before it happens: others may ask for the reason at once
        }
        if (fault.drops()) {
            faults.reconnectAfter(fault.isPartition() ? partition : strike.reconnectDelay());
        }
        if (fault == Fault.PARTITION_LATE) {
            faults.keep(sessionOfNow(), partition);
        }
        boolean happens = true;
        if (fault.interrupts()) {
            happens = victim.interrupt();
        } else if (fault.deletesNodes()) {
            happens = deleteNodes();
        } else if (fault.endsSession() && !fault.isPartition()) {
            victim.sessionEnded();
        }
        if (!happens) {
            withdraw(fault, isFirst);
        }
    }

    private long sessionOfNow() {
        synchronized (lock) {
            return lastSession;
        }
    }

    /** There was no call to interrupt or nothing to delete; a reply that is lost with it is lost anyway. */
    private void withdraw(Fault fault, boolean isFirst) {
        synchronized (lock) {
            if (isFirst) {
                struck.remove(fault);
            }
            if (fault.drops()) {
                struck.add(Fault.DROP_AFTER);
            }
        }
    }

    void deleteAsRival() {
        boolean isFirst;
        synchronized (lock) {
            isFirst = struck.add(Fault.DELETE); // before it happens: others may ask for the reason at once
        }
        if (!deleteNodes()) {
            withdraw(Fault.DELETE, isFirst);
        }
    }

    private boolean deleteNodes() {
        boolean any = false;
        for (Map.Entry<NodePath, NodeStat> node : store.snapshot().entrySet()) {
            if (sessions.contains(node.getValue().ephemeralOwner())) {
                victim.nodeDeleted(node.getValue().czxid());
                any |= faults.deleteAsOperator(node.getKey());
            }
        }
        return any;
    }

    /** The faults that have happened so far, those without any effect left out. */
    Set<Fault> struck() {
        synchronized (lock) {
            return Set.copyOf(struck);
        }
    }

    /** The victim's sessions that have sent something. */
    Set<Long> sessions() {
        return Set.copyOf(sessions);
    }

    int requestCount() {
        synchronized (lock) {
            return requests.size();
        }
    }

    /** The victim's requests in a few words each, in order. */
    List<String> requests() {
        synchronized (lock) {
            return List.copyOf(requests);
        }
    }
}
