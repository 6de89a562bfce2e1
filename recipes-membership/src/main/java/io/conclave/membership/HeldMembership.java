package io.conclave.membership;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.ClosedException;
import io.conclave.error.ConclaveException;
import io.conclave.error.GrantLostException;
import io.conclave.error.Holder;
import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.line.StagedRequest;
import io.conclave.metrics.MetricsHook;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.session.Registration;
import io.conclave.spi.SerialExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A membership through all sessions of a coordinator: a {@link SessionMembership} for each of them, one after the
 * other.
 *
 * <p>{@code lock} guards the state; nothing blocks while it is held.
 */
final class HeldMembership<P> extends StagedRequest implements Membership<P> {
    private static final Logger LOG = LoggerFactory.getLogger(HeldMembership.class);

    private final Coordinator coordinator;
    private final NodePath path;
    private final DataCodec<P> codec;
    private final RecipeSession firstSession;
    private final long beganNanos;
    private final CompletableFuture<LossReason> ended = new CompletableFuture<>();
    private final Object lock = new Object();
    // All below: @GuardedBy("lock").
    private final List<Listener> listeners = new ArrayList<>();
    private final Payloads payloads;
    private MembershipState state = MembershipState.JOINING;
    private @Nullable SessionMembership stay;
    private @Nullable FencingToken token;

    private record Listener(Consumer<? super MembershipState> consumer, SerialExecutor queue) {}

    HeldMembership(Coordinator coordinator, NodePath path, DataCodec<P> codec, P payload) {
        this.coordinator = coordinator;
        this.path = path;
        this.codec = codec;
        this.payloads = new Payloads(encode(payload));
        this.firstSession = RecipeAccess.session(coordinator);
        this.beganNanos = firstSession.time().monotonicNanos();
    }

    private byte[] encode(P value) {
        byte[] data = codec.encode(Objects.requireNonNull(value, "payload"));
        if (data == null) {
            throw new IllegalArgumentException("Invalid payload for " + path + ": the codec makes nothing of it");
        }
        return data;
    }

    /** Enters the group on the coordinator's present session. Never blocks. */
    void follow() {
        SessionMembership next;
        synchronized (lock) {
            if (state == MembershipState.LEAVING || state == MembershipState.ENDED) {
                return;
            }
            next = new SessionMembership(this, RecipeAccess.session(coordinator), path);
            stay = next;
        }
        next.begin();
    }

    private void become(MembershipState next) { // under the lock
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("A membership that is " + state + " cannot become " + next);
        }
        state = next;
        for (Listener listener : listeners) {
            listener.queue.execute(() -> listener.consumer.accept(next));
        }
    }

    private SerialExecutor queue(String name) {
        return firstSession.listenerThreads(name + " of " + path);
    }

    private MetricsHook metrics() {
        return firstSession.metrics();
    }

    /** What the member is to tell of itself. */
    Payloads.Payload payload() {
        synchronized (lock) {
            return payloads.latest();
        }
    }

    /** Another member has the id. */
    void onTaken() {
        mustWait.complete(null);
    }

    void onJoined(SessionMembership by, long czxid, Payloads.Payload payload) {
        boolean again;
        synchronized (lock) {
            if (stay != by || (state != MembershipState.JOINING && state != MembershipState.REJOINING)) {
                return;
            }
            again = state == MembershipState.REJOINING;
            token = new FencingToken(by.session().generation(), czxid);
            become(MembershipState.MEMBER);
        }
        onWritten(by, payload);
        if (again) {
            LOG.info("{}: joined again on the next session", this);
            metrics().count("membership.rejoin", path.toString());
        } else {
            long tookNanos = firstSession.time().monotonicNanos() - beganNanos;
            metrics().duration("membership.join", path.toString(), Duration.ofNanos(tookNanos));
        }
        granted.complete(null);
    }

    /** This payload is written: it stands for every earlier one too. */
    void onWritten(SessionMembership by, Payloads.Payload payload) {
        List<Payloads.Update> done;
        synchronized (lock) {
            if (stay != by) {
                return;
            }
            done = payloads.accept(payload);
        }
        done.forEach(update -> complete(update, null));
    }

    /** The backend does not take this payload of a member. */
    void onNotWritten(SessionMembership by, Payloads.Payload payload, Throwable cause) {
        if (takesBack(by, payload, cause)) {
            by.payloadChanged(); // another one may wait
        }
    }

    /**
     * The backend does not take this payload: its update fails, and the one before it stands, if there is no newer one.
     * False if it was taken before.
     */
    boolean takesBack(SessionMembership by, Payloads.Payload payload, Throwable cause) {
        List<Payloads.Update> failed;
        synchronized (lock) {
            if (stay != by) {
                return false;
            }
            failed = payloads.refuse(payload);
        }
        failed.forEach(update -> complete(update, cause));
        return !failed.isEmpty();
    }

    private void complete(Payloads.Update update, @Nullable Throwable failure) {
        queue("update").execute(() -> {
            if (failure == null) {
                update.done().complete(null);
            } else {
                update.done().completeExceptionally(failure);
            }
        });
    }

    void onSessionLost(SessionMembership by) {
        synchronized (lock) {
            if (stay != by || state == MembershipState.ENDED) {
                return;
            }
            token = null;
            if (state == MembershipState.MEMBER) {
                become(MembershipState.REJOINING);
            }
        }
        LOG.info("{}: the session was lost, joining on the next one", this);
        metrics().count("membership.lost", path.toString());
        follow();
    }

    void onExpelled(SessionMembership by) {
        LOG.warn("{}: the znode was deleted by another client; not joining again", this);
        metrics().count("membership.expelled", path.toString());
        end(
                by,
                LossReason.NODE_DELETED,
                lostException(LossReason.NODE_DELETED, "its znode was deleted by another client"));
    }

    private GrantLostException lostException(LossReason reason, String what) {
        return new GrantLostException(
                reason, path.toString(), "The member " + path + " is in the group no more: " + what);
    }

    void onRefused(SessionMembership by, Throwable cause) {
        LOG.warn("{}: cannot join: {}", this, cause.getMessage());
        end(by, LossReason.REFUSED, cause);
    }

    void onCoordinatorClosed(SessionMembership by) {
        end(by, LossReason.COORDINATOR_CLOSED, new ClosedException(this + ": the coordinator was closed"));
    }

    private void end(SessionMembership by, LossReason reason, Throwable why) {
        List<Payloads.Update> failed;
        synchronized (lock) {
            if (stay != by || state == MembershipState.ENDED) {
                return;
            }
            token = null;
            become(MembershipState.ENDED);
            failed = payloads.end();
        }
        granted.completeExceptionally(why);
        failed.forEach(update -> complete(update, why));
        lost.complete(reason);
        gone.complete(null);
        ended.complete(reason);
    }

    @Override
    public CompletionStage<Void> leave(ConclaveException why) {
        SessionMembership last;
        synchronized (lock) {
            last = stay;
            if (state == MembershipState.LEAVING || state == MembershipState.ENDED || last == null) {
                return gone;
            }
            token = null;
            become(MembershipState.LEAVING);
        }
        granted.completeExceptionally(why);
        last.leave().thenRun(() -> end(last, LossReason.RELEASED, lostException(LossReason.RELEASED, "it was left")));
        return gone;
    }

    @Override
    public String what() {
        return path.toString();
    }

    @Override
    public AcquireTimeoutException timedOut(Duration waited) {
        SessionMembership present;
        synchronized (lock) {
            present = stay;
        }
        Optional<Holder> holder = present == null ? Optional.empty() : present.holder();
        String why = holder.map(
                        one -> "its id is taken by a member with the session 0x" + Long.toHexString(one.sessionId()))
                .orElseGet(() -> present != null && present.waitsForOwnSession()
                        ? "its id is taken by another membership of this coordinator"
                        : session().unlessConnected("the store has not answered yet"));
        return new AcquireTimeoutException(
                path.toString(),
                waited,
                holder,
                "Did not join as " + path + " within " + Waiting.text(waited) + ": " + why);
    }

    @Override
    public void giveUpWaiting(ConclaveException why) {
        if (!granted.isDone()) {
            leave(why);
        }
    }

    @Override
    public RecipeSession session() {
        synchronized (lock) {
            SessionMembership present = stay;
            return present == null ? firstSession : present.session();
        }
    }

    @Override
    public String id() {
        return path.name();
    }

    @Override
    public NodePath path() {
        return path;
    }

    @Override
    public MembershipState state() {
        synchronized (lock) {
            return state;
        }
    }

    @Override
    public Duration remaining() {
        RecipeSession owner;
        synchronized (lock) {
            SessionMembership present = stay;
            if (state != MembershipState.MEMBER || present == null) {
                return Duration.ZERO;
            }
            owner = present.session();
        }
        return owner.remaining();
    }

    @Override
    public Optional<FencingToken> token() {
        synchronized (lock) {
            return Optional.ofNullable(token);
        }
    }

    @Override
    public void update(P next) throws InterruptedException {
        Waiting.await(session(), updateAsync(next));
    }

    @Override
    public CompletableFuture<Void> updateAsync(P next) {
        byte[] data = encode(next);
        CompletableFuture<Void> done;
        SessionMembership present;
        synchronized (lock) {
            present = stay;
            if (state == MembershipState.LEAVING || state == MembershipState.ENDED) {
                return CompletableFuture.failedFuture(lostException(lost.getNow(LossReason.RELEASED), "it has ended"));
            }
            done = payloads.update(data);
        }
        if (present != null) {
            present.payloadChanged();
        }
        return done;
    }

    @Override
    public Registration onStateChange(Consumer<? super MembershipState> consumer) {
        Listener listener = new Listener(Objects.requireNonNull(consumer, "listener"), queue("state listener"));
        synchronized (lock) {
            listeners.add(listener);
        }
        return () -> {
            synchronized (lock) {
                listeners.remove(listener);
            }
        };
    }

    @Override
    public CompletableFuture<LossReason> ended() {
        return ended.isDone() ? ended.copy() : firstSession.onListenerThread("end of " + path, ended);
    }

    @Override
    public void close() {
        CompletionStage<Void> left = leave(new ClosedException("Left: " + this));
        Waiting.awaitGone(session(), left);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        return firstSession.onListenerThread("leaving of " + path, leave(new ClosedException("Left: " + this)));
    }

    @Override
    public String toString() {
        synchronized (lock) {
            return "Membership[" + path + ", " + state + (token == null ? "" : ", token " + token) + "]";
        }
    }
}
