package io.conclave.spring.integration;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.Candidacy;
import io.conclave.election.LeaderElection;
import io.conclave.election.Leadership;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * Lets a candidate of Spring Integration take part in an election as long as the application context runs: as a bean,
 *
 * <pre>{@code
 * new ConclaveLeaderInitiator(coordinator, new DefaultCandidate("host-7", "cleaner"))
 * }</pre>
 *
 * <p>Its candidate stands in line at {@code /spring-integration/leader/<role>}, with those of Spring's own
 * {@code LeaderInitiator}, so both exclude each other. When it is its turn, {@code onGranted} is called and an
 * {@code OnGrantedEvent} published; when the leadership is lost or yielded, or the initiator is stopped, {@code
 * onRevoked} is called and an {@code OnRevokedEvent} published. The successor leads only after that, unless the session
 * is lost or the candidate gives it up itself: then {@code isLeader()} is false at once, and {@code onRevoked} is
 * called as soon as it is known. After a loss the candidate stands in line again, on the coordinator's next session.
 *
 * <p>The candidate and the listeners of both events are called one after the other on a thread of the term. It may
 * block in {@code onGranted}: the thread is interrupted when the term ends, unless it has yielded, resigned or handed
 * over itself, and {@code onRevoked} is called once it has returned. A candidate that resigns or hands over must return
 * by itself: the successor leads then at once. If {@code onGranted} throws, {@code onRevoked} is called, and the next
 * campaign begins half a second later, at the end of the line.
 *
 * <p>As Spring's own, it starts by itself and stops early, in the phase {@code Integer.MAX_VALUE - 1000}: so leadership
 * ends before web servers stop. {@code stop} blocks until the candidate is revoked and nothing is left in the line, for
 * the session timeout at most. It may be started again. Thread-safe; it does not close the coordinator.
 */
public final class ConclaveLeaderInitiator implements SmartLifecycle, ApplicationEventPublisherAware {
    /** Where elections are unless told otherwise: as Spring's LeaderInitiator has them. */
    public static final String DEFAULT_NAMESPACE = "/spring-integration/leader";

    private static final Logger LOG = LoggerFactory.getLogger(ConclaveLeaderInitiator.class);
    private static final int PHASE = Integer.MAX_VALUE - 1000;

    private final LeaderElection election;
    private final Candidate candidate;
    private final Context context = new LeaderContext();
    private final Object lock = new Object();
    private @Nullable Candidacy candidacy; // guarded by lock
    private volatile @Nullable CandidateTerm term;
    private volatile @Nullable LeaderEventPublisher publisher;
    private volatile boolean autoStartup = true;
    private volatile int phase = PHASE;

    /** Elections below {@value #DEFAULT_NAMESPACE}. */
    public ConclaveLeaderInitiator(Coordinator coordinator, Candidate candidate) {
        this(coordinator, candidate, DEFAULT_NAMESPACE);
    }

    /**
     * Elections below a path of the coordinator's namespace.
     *
     * @throws IllegalArgumentException if the path with the candidate's role breaks a rule, naming it
     */
    public ConclaveLeaderInitiator(Coordinator coordinator, Candidate candidate, String namespace) {
        this.candidate = Objects.requireNonNull(candidate, "candidate");
        String start = namespace.startsWith("/") ? namespace : "/" + namespace;
        String path = (start.endsWith("/") ? start : start + "/") + candidate.getRole();
        this.election =
                LeaderElection.at(coordinator, path).withData(candidate.getId().getBytes(StandardCharsets.UTF_8));
    }

    /** Publishes the events in the place of the application context's publisher. */
    public void setLeaderEventPublisher(LeaderEventPublisher newPublisher) {
        publisher = Objects.requireNonNull(newPublisher, "leaderEventPublisher");
    }

    /** Called by the application context: events go to it, unless another publisher is set. */
    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher applicationEventPublisher) {
        if (publisher == null) {
            publisher = new DefaultLeaderEventPublisher(applicationEventPublisher);
        }
    }

    /** Stands in line. Never blocks; does nothing if it does already. */
    @Override
    public void start() {
        synchronized (lock) {
            if (candidacy == null) {
                candidacy = election.runWhileLeader(this::lead);
            }
        }
    }

    @Override
    public void stop() {
        Candidacy ending;
        synchronized (lock) {
            ending = candidacy;
            candidacy = null;
        }
        if (ending == null) {
            return;
        }
        CandidateTerm present = term;
        if (present != null && present.isCandidatesThread()) {
            present.endByCandidate();
            ending.closeAsync(); // it would wait for itself
        } else {
            ending.closeAsync();
            if (present != null) {
                present.end(); // also a candidate that has resigned, and goes on: it hears of no loss any more
            }
            ending.close();
        }
    }

    @Override
    public boolean isRunning() {
        synchronized (lock) {
            return candidacy != null;
        }
    }

    /** On a thread of the election, once for each leadership. */
    private void lead(Leadership leadership) {
        CandidateTerm next = new CandidateTerm(leadership, new CandidateTerm.Told() {
            @Override
            public void onGranted() throws InterruptedException {
                candidate.onGranted(context);
                publish("OnGranted", to -> to.publishOnGranted(ConclaveLeaderInitiator.this, context, role()));
            }

            @Override
            public void onRevoked() {
                candidate.onRevoked(context);
                publish("OnRevoked", to -> to.publishOnRevoked(ConclaveLeaderInitiator.this, context, role()));
            }
        });
        term = next;
        next.run("conclave-leader " + election.path());
    }

    private void publish(String event, Consumer<LeaderEventPublisher> publication) {
        LeaderEventPublisher to = publisher;
        if (to == null) {
            return;
        }
        try {
            publication.accept(to);
        } catch (RuntimeException e) {
            LOG.warn("{}: a listener of {} failed", election.path(), event, e);
        }
    }

    private String role() {
        return candidate.getRole();
    }

    /** What candidates and listeners are given: whether it leads now, and the way to yield. */
    public Context getContext() {
        return context;
    }

    /** The leadership of now, with the token that a guarded store compares; empty while the candidate does not lead. */
    public Optional<Leadership> leadership() {
        return Optional.ofNullable(term).filter(CandidateTerm::isLeader).map(CandidateTerm::leadership);
    }

    private final class LeaderContext implements Context {
        @Override
        public boolean isLeader() {
            return leadership().isPresent();
        }

        /** Revokes the leadership, resigns, and stands in line again, at its end. Never blocks. */
        @Override
        public void yield() {
            CandidateTerm present = term;
            if (present != null) {
                present.end();
            }
        }

        @Override
        public String getRole() {
            return role();
        }

        @Override
        public String toString() {
            return "Context[role=" + role() + ", id=" + candidate.getId() + ", isLeader=" + isLeader() + "]";
        }
    }

    @Override
    public int getPhase() {
        return phase;
    }

    /** The phase in which it starts and stops. */
    public void setPhase(int newPhase) {
        phase = newPhase;
    }

    @Override
    public boolean isAutoStartup() {
        return autoStartup;
    }

    /** Whether the application context starts it. */
    public void setAutoStartup(boolean newAutoStartup) {
        autoStartup = newAutoStartup;
    }

    @Override
    public String toString() {
        return "ConclaveLeaderInitiator[" + election.path() + ", " + candidate.getId() + "]";
    }
}
