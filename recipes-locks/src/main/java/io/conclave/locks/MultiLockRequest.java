package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Contender;
import io.conclave.line.GrantLoss;
import io.conclave.line.StagedRequest;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.session.Registration;
import io.conclave.session.SessionState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request for several locks. It enters all lines in one transaction, waits for its turn in each, and is granted when
 * it has them all. If anything goes wrong, all are given back.
 *
 * <p>Locks of several sessions cannot be entered in one transaction. Then it waits in the lines of one session only,
 * and holds nothing else meanwhile. When it has those, it looks whether the others are free. If not, it gives all back,
 * and waits for those that were in the way.
 *
 * <p>All state belongs to the dispatcher of the first lock's session, to which the others' are brought. Methods that
 * others may call say so.
 */
final class MultiLockRequest extends StagedRequest {
    private static final Logger LOG = LoggerFactory.getLogger(MultiLockRequest.class);

    /** Of how many lines a timeout names the holders; each may cost two requests. */
    private static final int MOST_HOLDERS = 32;

    private final List<LineLock<?>> locks;
    private final boolean patient;
    private final RecipeSession session;
    private final List<CompletableFuture<?>> leaving = new ArrayList<>();
    private final List<Registration> sessionListeners = new ArrayList<>(); // until it is granted
    private volatile List<LockGroup> groups = List.of(); // set once
    private volatile List<Contender> held = List.of(); // written on the dispatcher only; empty before and after
    private volatile Map<NodePath, LockGrant> grants = Map.of(); // set once, before it is granted
    private volatile @Nullable Contender inTheWay; // of whom the last wait for one session's locks was
    private volatile @Nullable LossReason lossReason; // written before the contenders are given up
    private int stepsBack;
    private boolean over; // given up or lost; nothing comes after it

    private MultiLockRequest(List<LineLock<?>> locks, boolean patient) {
        this.locks = locks;
        this.patient = patient;
        this.session = locks.get(0).line().session();
    }

    /**
     * Asks for the locks. Never blocks.
     *
     * @param locks in the order of their absolute paths
     * @param patient whether to wait for those that are not free
     */
    static MultiLockRequest enter(List<LineLock<?>> locks, boolean patient) {
        MultiLockRequest request = new MultiLockRequest(locks, patient);
        request.session.execute(() -> request.guarded(request::begin));
        return request;
    }

    private void begin() {
        if (over) {
            return;
        }
        groups = LockGroup.of(locks, session);
        tie();
        if (over) {
            return; // one of the sessions has ended
        }
        if (patient) {
            enter(groups.get(0), true);
        } else {
            groups.forEach(group -> enter(group, false));
        }
    }

    private void enter(LockGroup group, boolean isPatient) {
        group.enter(isPatient);
        for (Contender contender : group.contenders()) {
            Waiting.whenDone(
                    contender.granted(),
                    turn -> inGroup(group, contender, this::onGranted),
                    cause -> inGroup(group, contender, () -> onNotGranted(group, contender, cause)));
            contender.lost().thenAccept(reason -> inGroup(group, contender, () -> onLost(contender, reason)));
            contender.revocationRequested().thenRun(() -> revocation.complete(null));
        }
    }

    /** Goes on, unless the contender was given up. */
    private void inGroup(LockGroup group, Contender contender, Runnable step) {
        session.execute(() -> {
            if (!over && group.contenders().contains(contender)) {
                guarded(step);
            }
        });
    }

    private void onGranted() {
        if (!contenders().allMatch(MultiLockRequest::isGranted)) {
            return;
        }
        if (groups.stream().allMatch(LockGroup::isEntered)) {
            grants = grantsOfAll();
            held = contenders().toList();
            stopListening();
            LOG.debug("{}: granted", this);
            granted.complete(null);
        } else {
            groups.stream().filter(group -> !group.isEntered()).forEach(group -> enter(group, false));
        }
    }

    // So far the way to the grant. From here on what can come in between.

    /** It ends with each of the sessions, also with one in whose lines it does not stand: it cannot have all. */
    private void tie() {
        groups.forEach(group -> sessionListeners.add(
                group.session().onStateChange(state -> session.execute(() -> guarded(() -> sessionIs(state))))));
        groups.forEach(group -> sessionIs(group.session().state()));
    }

    private void stopListening() {
        sessionListeners.forEach(Registration::close);
    }

    private void sessionIs(SessionState state) {
        if (!state.isLive()) {
            fail(Failures.sessionEnded(state, "waiting for " + this));
        }
    }

    private void onNotGranted(LockGroup group, Contender contender, Throwable cause) {
        if (patient && cause instanceof AcquireTimeoutException) {
            stepBack(group, contender, cause);
        } else {
            fail(cause);
        }
    }

    /**
     * The locks of another session are not free. To wait for them with what it has might close a circle. A pause from
     * the second time on: else two might step back from each other again and again.
     */
    private void stepBack(LockGroup group, Contender contender, Throwable cause) {
        inTheWay = contender;
        leaveGroups(new ClosedException("Given back to wait for " + contender));
        Runnable wait = () -> guarded(() -> {
            if (!over) {
                enter(group, true);
            }
        });
        if (stepsBack++ == 0) {
            wait.run();
        } else {
            Retry.later(session, cause, wait);
        }
    }

    /**
     * What goes wrong here ends the request: with a log line alone it would keep what it has, and its caller waiting.
     */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            LOG.error("{}: unexpected failure", this, e);
            fail(e);
        }
    }

    private void onLost(Contender contender, LossReason reason) {
        if (!granted.isDone()) {
            fail(failureOf(contender, reason));
            return;
        }
        GrantLoss.log(
                getClass(), contender.session(), "the grant of " + this + ", because of " + contender.what(), reason);
        giveAllBack(reason);
    }

    private ConclaveException failureOf(Contender contender, LossReason reason) {
        String what = contender.what() + " while waiting for the other locks of " + paths();
        return switch (reason) {
            case SESSION_LOST -> new SessionGoneException("The session was lost of " + what);
            case COORDINATOR_CLOSED -> new ClosedException("The coordinator was closed of " + what);
            default -> new GrantLostException(reason, contender.what(), "Lost, " + reason + ": " + what);
        };
    }

    private void fail(Throwable cause) {
        if (over || granted.isDone()) {
            return;
        }
        granted.completeExceptionally(Failures.known(cause, this));
        giveAllBack(LossReason.RELEASED);
    }

    private void giveAllBack(LossReason reason) {
        over = true;
        stopListening();
        lossReason = reason;
        held = List.of();
        lost.complete(reason);
        leaveGroups(new ClosedException("Given back with the other locks of " + paths()));
        CompletableFuture.allOf(leaving.toArray(CompletableFuture<?>[]::new)).thenRun(() -> gone.complete(null));
    }

    private void leaveGroups(ConclaveException why) {
        leaving.removeIf(CompletableFuture::isDone);
        groups.stream().filter(LockGroup::isEntered).forEach(group -> leaving.add(group.leave(why)));
    }

    private Stream<Contender> contenders() {
        return groups.stream().flatMap(group -> group.contenders().stream());
    }

    private static boolean isGranted(Contender contender) {
        CompletableFuture<?> turn = contender.granted().toCompletableFuture();
        return turn.isDone() && !turn.isCompletedExceptionally();
    }

    @Override
    public RecipeSession session() {
        return session;
    }

    @Override
    public Duration remaining() {
        return held.stream().map(Contender::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    /** That of the first that was lost: when the others are given back as well, it has been written. */
    @Override
    public Optional<LossReason> lossReason() {
        Optional<LossReason> ofOne =
                held.stream().flatMap(one -> one.lossReason().stream()).findFirst();
        return Optional.ofNullable(lossReason).or(() -> ofOne);
    }

    @Override
    public boolean deadlineIsStrict() {
        List<Contender> present = held;
        return present.isEmpty() ? session.deadlineIsStrict() : present.stream().allMatch(Contender::deadlineIsStrict);
    }

    @Override
    public void watchForLoss() {
        held.forEach(Contender::watchForLoss);
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        session.execute(() -> depart(why));
        return gone;
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        session.execute(() -> {
            if (!granted.isDone()) {
                depart(why);
            }
        });
    }

    private void depart(ConclaveException why) {
        if (over) {
            return;
        }
        granted.completeExceptionally(why); // unless it was granted
        giveAllBack(
                contenders() // one may be lost, which is told behind this call
                        .flatMap(contender -> contender.lossReason().stream())
                        .findFirst()
                        .orElse(LossReason.RELEASED));
    }

    /** The grants by the absolute paths of the locks, in their order, once all are granted. Any thread. */
    Map<NodePath, LockGrant> grants() {
        return grants;
    }

    private Map<NodePath, LockGrant> grantsOfAll() {
        Map<NodePath, LockGrant> all = new TreeMap<>();
        for (LockGroup group : groups) {
            List<Contender> contenders = group.contenders();
            for (int i = 0; i < contenders.size(); i++) {
                LineLock<?> lock = group.locks().get(i);
                all.put(MultiLock.absolutePath(lock), lock.grantOf(contenders.get(i)));
            }
        }
        return Collections.unmodifiableMap(all);
    }

    @Override
    public String what() {
        return paths().toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        List<Contender> obstructed = waitedFor();
        if (obstructed.isEmpty()) {
            return new AcquireTimeoutException(
                    locks.get(0).path().toString(),
                    waited,
                    Optional.empty(),
                    notGranted(waited) + "the store has not answered yet");
        }
        AcquireTimeoutException first = obstructed.get(0).timedOut(waited);
        return new AcquireTimeoutException(
                first.path(), waited, first.holder(), notGranted(waited) + obstacles(obstructed));
    }

    /** What is in the way in each line, as in "/a: it is held by ...; /b: ...". */
    private static String obstacles(List<Contender> obstructed) {
        Map<String, List<String>> pathsByReason = new LinkedHashMap<>();
        for (Contender one : obstructed.subList(0, Math.min(MOST_HOLDERS, obstructed.size()))) {
            pathsByReason
                    .computeIfAbsent(one.whyNotGranted(), why -> new ArrayList<>())
                    .add(one.what());
        }
        if (obstructed.size() > MOST_HOLDERS) {
            pathsByReason.put(
                    "not granted either",
                    obstructed.stream().skip(MOST_HOLDERS).map(Contender::what).toList());
        }
        return pathsByReason.entrySet().stream()
                .map(each -> String.join(", ", each.getValue()) + ": " + each.getKey())
                .collect(Collectors.joining("; "));
    }

    /** Those whose turn has not come, in the order of the locks. Any thread. */
    private List<Contender> waitedFor() {
        List<Contender> entered =
                contenders().filter(contender -> !isGranted(contender)).toList();
        Contender last = inTheWay;
        return entered.isEmpty() && last != null ? List.of(last) : entered;
    }

    private String notGranted(Duration waited) {
        return "The locks " + what() + " were not granted together within " + Waiting.text(waited) + ": ";
    }

    @Override
    public void timeIsRunningOut() {
        waitedFor().stream().limit(MOST_HOLDERS).forEach(Contender::timeIsRunningOut);
    }

    private List<NodePath> paths() {
        return locks.stream().map(LineLock::path).toList();
    }

    @Override
    public String toString() {
        return "the locks " + paths();
    }
}
