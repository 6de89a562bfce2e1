package io.conclave.locks;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.LossReason;
import io.conclave.error.SessionGoneException;
import io.conclave.line.Contender;
import io.conclave.line.GrantLoss;
import io.conclave.line.GrantRequest;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request for several locks: it stands in one line after the other, in the order given, and keeps what it has
 * meanwhile; if anything goes wrong, all are given back.
 *
 * <p>All state belongs to the dispatcher of the first lock's session, to which the others' are brought. Methods that
 * others may call say so.
 */
final class MultiLockRequest implements GrantRequest {
    private static final Logger LOG = LoggerFactory.getLogger(MultiLockRequest.class);

    private final List<LineLock<?>> locks;
    private final boolean patient;
    private final RecipeSession session;
    private final CompletableFuture<MultiLockRequest> granted = new CompletableFuture<>();
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> revocation = new CompletableFuture<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();
    private final List<Contender> contenders = new ArrayList<>();
    private volatile List<Contender> held = List.of(); // written on the dispatcher only; empty before and after
    private volatile @Nullable Contender latest; // whose turn is waited for; written on the dispatcher only
    private boolean over; // given up or lost; nothing comes after it

    private MultiLockRequest(List<LineLock<?>> locks, boolean patient) {
        this.locks = locks;
        this.patient = patient;
        this.session = locks.get(0).place().session();
    }

    /**
     * Asks for the locks, in this order. Never blocks.
     *
     * @param patient whether to wait for those that are not free
     */
    static MultiLockRequest enter(List<LineLock<?>> locks, boolean patient) {
        MultiLockRequest request = new MultiLockRequest(locks, patient);
        request.session.execute(() -> request.guarded(request::enterNext));
        return request;
    }

    private void enterNext() {
        if (over) {
            return;
        }
        Contender contender = locks.get(contenders.size()).enter(patient);
        contenders.add(contender);
        latest = contender;
        contender
                .granted()
                .whenComplete((turn, failure) -> session.execute(() -> guarded(() -> {
                    if (failure == null) {
                        onGranted();
                    } else {
                        fail(Waiting.cause(failure));
                    }
                })));
        contender.lost().thenAccept(reason -> session.execute(() -> guarded(() -> onLost(contender, reason))));
        contender.revocationRequested().thenRun(() -> revocation.complete(null));
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

    private void onGranted() {
        if (over) {
            return;
        }
        if (contenders.size() < locks.size()) {
            enterNext();
        } else {
            held = List.copyOf(contenders);
            LOG.debug("{}: granted", this);
            granted.complete(this);
        }
    }

    private void onLost(Contender contender, LossReason reason) {
        if (over) {
            return;
        }
        if (!granted.isDone()) {
            fail(failureOf(contender, reason));
            return;
        }
        GrantLoss.log(getClass(), session, "the grant of " + this + ", because of " + pathOf(contender), reason);
        giveAllBack(reason);
    }

    private ConclaveException failureOf(Contender contender, LossReason reason) {
        String what = pathOf(contender) + " while waiting for the other locks of " + paths();
        return switch (reason) {
            case SESSION_LOST -> new SessionGoneException("The session was lost of " + what);
            case COORDINATOR_CLOSED -> new ClosedException("The coordinator was closed of " + what);
            default -> new GrantLostException(reason, pathOf(contender).toString(), "Lost, " + reason + ": " + what);
        };
    }

    private void fail(Throwable cause) {
        if (over || granted.isDone()) {
            return;
        }
        granted.completeExceptionally(Failures.known(cause, this));
        giveAllBack(LossReason.RELEASED);
    }

    /** The last first, so that no waiter gets one that we still keep it from using. */
    private void giveAllBack(LossReason reason) {
        over = true;
        held = List.of();
        lost.complete(reason);
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = contenders.size() - 1; i >= 0; i--) {
            all.add(contenders
                    .get(i)
                    .leave(new ClosedException("Given back with the other locks of " + paths()))
                    .toCompletableFuture());
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new)).thenRun(() -> gone.complete(null));
    }

    @Override
    public RecipeSession session() {
        return session;
    }

    @Override
    public CompletionStage<MultiLockRequest> granted() {
        return granted;
    }

    @Override
    public CompletionStage<LossReason> lost() {
        return lost;
    }

    @Override
    public CompletionStage<Void> revocationRequested() {
        return revocation;
    }

    @Override
    public CompletionStage<Void> gone() {
        return gone;
    }

    @Override
    public Duration remaining() {
        return held.stream().map(Contender::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    @Override
    public boolean deadlineIsStrict() {
        List<Contender> present = held;
        return present.isEmpty() ? session.deadlineIsStrict() : present.stream().allMatch(Contender::deadlineIsStrict);
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
        if (!over) {
            granted.completeExceptionally(why); // unless it was granted
            giveAllBack(LossReason.RELEASED);
        }
    }

    /**
     * The grants by the absolute paths of the locks, once all are granted. Any thread: the contenders do not change any
     * more.
     */
    Map<NodePath, LockGrant> grants() {
        Map<NodePath, LockGrant> grants = new LinkedHashMap<>();
        for (int i = 0; i < locks.size(); i++) {
            grants.put(MultiLock.absolutePath(locks.get(i)), locks.get(i).grantOf(contenders.get(i)));
        }
        return Collections.unmodifiableMap(grants);
    }

    @Override
    public String what() {
        return paths().toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        Contender last = latest;
        if (last == null) {
            return new AcquireTimeoutException(
                    locks.get(0).path().toString(),
                    waited,
                    Optional.empty(),
                    notGranted(waited) + "the store has not answered yet");
        }
        AcquireTimeoutException one = last.timedOut(waited);
        return new AcquireTimeoutException(
                one.path(), waited, one.holder(), notGranted(waited) + one.path() + ": " + last.whyNotGranted());
    }

    private String notGranted(Duration waited) {
        return "The locks " + what() + " were not granted together within " + Waiting.text(waited) + ": ";
    }

    @Override
    public void timeIsRunningOut() {
        Contender last = latest;
        if (last != null) {
            last.timeIsRunningOut();
        }
    }

    private NodePath pathOf(Contender contender) {
        return locks.get(contenders.indexOf(contender)).path();
    }

    private List<NodePath> paths() {
        return locks.stream().map(LineLock::path).toList();
    }

    @Override
    public String toString() {
        return "the locks " + paths();
    }
}
