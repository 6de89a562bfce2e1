package io.conclave.election;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Acquisition;
import io.conclave.line.EntryKind;
import io.conclave.line.LineView;
import io.conclave.line.ProcessName;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetData;
import io.conclave.session.Registration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * An election of one leader among all processes that use the same path: the leader election of the ZooKeeper recipes
 * page, first come, first served, without a herd, with the acknowledgement by which the leader says that it knows.
 *
 * <pre>{@code
 * LeaderElection election = LeaderElection.at(coordinator, "/elections/billing").withData("host-7".getBytes(UTF_8));
 * try (Leadership leadership = election.campaign()) {
 *     billing.run(leadership.token());             // the store refuses a smaller token
 * }
 * }</pre>
 *
 * <p>Leadership is a grant: with a fencing token, a deadline and a loss signal. While the connection is away a campaign
 * waits; if the session is lost it fails with {@link SessionGoneException}, and a new one uses the coordinator's next
 * session; {@link #runWhileLeader} does that by itself. Candidates are laid out exactly as the contenders of Curator's
 * LeaderSelector and InterProcessMutex, and stand in one line with them; those lead without an acknowledgement, so
 * observers do not see them, and to them {@code leader} looks like a participant at the end of the line. Immutable and
 * thread-safe; making one costs nothing.
 */
public final class LeaderElection {
    private final Coordinator coordinator;
    private final NodePath path;
    private final byte[] data;

    private LeaderElection(Coordinator coordinator, NodePath path, byte[] data) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
        this.data = data;
    }

    /**
     * The election at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static LeaderElection at(Coordinator coordinator, String path) {
        return at(coordinator, NodePath.of(path));
    }

    /** The election at a path; candidates leave the process id and the host's name as their data. */
    public static LeaderElection at(Coordinator coordinator, NodePath path) {
        RecipePaths.requireOwn(path, "an election");
        return new LeaderElection(coordinator, path, ProcessName.bytes());
    }

    /** The same election; candidates leave this data for others to see, and the leader in its acknowledgement. */
    public LeaderElection withData(byte[] newData) {
        return new LeaderElection(coordinator, path, newData.clone());
    }

    /**
     * Waits without a limit of time until this candidate leads and has acknowledged it.
     *
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws SessionGoneException if the session is lost meanwhile
     * @throws io.conclave.error.GrantLostException if the candidate's znode is deleted by another client
     * @throws io.conclave.error.ConclaveException if it cannot lead
     */
    public Leadership campaign() throws InterruptedException {
        return leadershipOf(begin()).await();
    }

    /**
     * As {@link #campaign()}, with a limit of time. With a limit of zero it leads if there is no other candidate.
     *
     * @param timeout how long at most
     * @throws AcquireTimeoutException if the time is over; with a limit of zero, if another one leads or is before it
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException if the timeout is negative
     */
    public Leadership campaign(Duration timeout) throws InterruptedException {
        return within(timeout).await();
    }

    /**
     * Campaigns without blocking. Completes on a listener thread, with what {@link #campaign()} gives or throws;
     * cancelling it leaves the line.
     */
    public CompletableFuture<Leadership> campaignAsync() {
        return leadershipOf(begin()).stage(Leadership::closeAsync);
    }

    /**
     * As {@link #campaignAsync()}, with a limit of time after which it fails with {@link AcquireTimeoutException}; zero
     * as in {@link #campaign(Duration)}.
     */
    public CompletableFuture<Leadership> campaignAsync(Duration timeout) {
        return within(timeout).stage(Leadership::closeAsync);
    }

    Campaign begin() {
        return Campaign.begin(RecipeAccess.session(coordinator), path, data);
    }

    Acquisition<Leadership> leadershipOf(Campaign campaign) {
        return Acquisition.of(campaign, () -> new HeldLeadership(campaign));
    }

    private Acquisition<Leadership> within(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        Campaign campaign = begin();
        return Acquisition.of(campaign, () -> new HeldLeadership(campaign), timeout);
    }

    /**
     * The leader that knows that it leads; empty if there is none. Out of date as soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Leader> leader() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), leaderAsync());
    }

    /** As {@link #leader()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<Leader>> leaderAsync() {
        CompletionStage<Optional<Leader>> leader = Waiting.ifThere(
                        RecipeAccess.read(coordinator, GetData.of(path.child(LeaderNode.NAME))))
                .thenApply(node -> node.flatMap(LeaderRecord::leaderOf));
        return RecipeAccess.session(coordinator).onListenerThread("leader of " + path, leader);
    }

    /**
     * The members of the line, in order: the first leads, or is about to; the others wait. Out of date as soon as it is
     * known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<Candidate> candidates() throws InterruptedException {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Waiting.await(session, readCandidates(session));
    }

    /** As {@link #candidates()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<Candidate>> candidatesAsync() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return session.onListenerThread("candidates of " + path, readCandidates(session));
    }

    private CompletionStage<List<Candidate>> readCandidates(RecipeSession session) {
        return LineView.read(session, path, Set.of(EntryKind.MUTEX))
                .thenApply(members -> members.stream().map(Candidate::of).toList());
    }

    /**
     * Tells a listener the leader: first the present state, then every change, also of the leader's data
     * ({@link Leadership#update}); empty is "no leader". The latest state always arrives, those in between may be
     * skipped when they follow each other quickly. Each observer costs one watch on the acknowledgement alone:
     * candidates that come and go wake no observer.
     *
     * <p>It goes on through lost connections and lost sessions; meanwhile the last state stands, so what is heard last
     * may be out of date. The listener is called serially on a listener thread and may block; what it throws is logged.
     *
     * @return ends the observation; a call that is under way may still be seen
     */
    public Registration observe(Consumer<Optional<Leader>> listener) {
        LeaderObservation observation =
                new LeaderObservation(coordinator, path, Objects.requireNonNull(listener, "listener"));
        observation.begin();
        return observation;
    }

    /**
     * Campaigns again and again until closed, and does the work whenever it leads, on a thread of its own; see {@link
     * #runWhileLeader(LeaderWork, Executor)}.
     *
     * <p>That thread is a daemon thread, as all threads of this library are: it does not keep the JVM alive. A
     * {@code main} that returns behind this call ends the process at once, and the candidacy with it. So let
     * {@code main} wait for what ends the process, or give an executor with threads that are no daemons.
     */
    public Candidacy runWhileLeader(LeaderWork work) {
        return runWhileLeader(work, task -> {
            Thread thread = new Thread(task, "conclave-leader " + path);
            thread.setDaemon(true);
            thread.start();
        });
    }

    /**
     * Campaigns again and again until closed, and does the work whenever it leads. Never blocks.
     *
     * <p>When the leadership is lost the work's thread is interrupted; the next campaign begins when the work has
     * ended, on the coordinator's next session if this one is lost. When the work returns, the leader resigns and
     * campaigns again, at the end of the line; so a work that has nothing to do should wait, not return. What it throws
     * is logged and counted, and the next campaign begins half a second later; so it does when a campaign fails other
     * than by the loss of its session. It ends by itself when the coordinator is closed.
     *
     * @param executor runs the work; it holds a thread while the candidate leads, so it should not be the one that runs
     *     the coordinator's listeners
     */
    public Candidacy runWhileLeader(LeaderWork work, Executor executor) {
        RepeatedCampaign candidacy = new RepeatedCampaign(
                this, Objects.requireNonNull(work, "work"), Objects.requireNonNull(executor, "executor"));
        candidacy.campaign();
        return candidacy;
    }

    /** The election's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    Coordinator coordinator() {
        return coordinator;
    }

    @Override
    public String toString() {
        return "LeaderElection[" + path + ", " + coordinator + "]";
    }
}
