package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.Request;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What locks and permits with a lease have in common. */
abstract class LeasedResource extends AcquiredByWaiting<LeasedGrant> {
    private final Coordinator coordinator;
    private final LeaseLayout layout;
    private final LeaseRequest.Wish wish;

    LeasedResource(Coordinator coordinator, NodePath path, LeaseRequest.Wish wish) {
        RecipePaths.requireOwn(path, "a lock or semaphore");
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.layout = new LeaseLayout(path);
        this.wish = wish;
    }

    Coordinator coordinator() {
        return coordinator;
    }

    LeaseRequest.Wish wish() {
        return wish;
    }

    /** The znode, in the coordinator's namespace. */
    public NodePath path() {
        return layout.path();
    }

    @Override
    final Entered<LeasedGrant> enter(boolean patient) {
        LeaseRequest request =
                LeaseRequest.enter(coordinator, RecipeAccess.session(coordinator), layout, wish, patient);
        return new Entered<>(request, () -> new HeldLease(request.hold()));
    }

    /**
     * Releases a grant, whichever process holds it: its holder hears of that as of a deletion ({@code NODE_DELETED}) if
     * it is there. The next waiter is granted at once. Blocks until the store has confirmed it; goes on over lost
     * connections and sessions.
     *
     * @param id as {@link LeasedGrant#id()} gave it
     * @return whether it was there; after a lost reply also if it was released by another process meanwhile
     * @throws IllegalArgumentException if it is no id
     * @throws io.conclave.error.RefusedException if the store refuses it
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost and the store refuses to tell what became
     *     of it, or the coordinator is closed before the reply; to call it again is safe
     * @throws InterruptedException if the thread is interrupted; it may be released anyway
     */
    public boolean release(String id) throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), LeaseRemoval.ifThere(coordinator, layout.lease(id)));
    }

    /** As {@link #release}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> releaseAsync(String id) {
        NodePath lease = layout.lease(id);
        return RecipeAccess.session(coordinator)
                .onListenerThread("release of " + lease, LeaseRemoval.ifThere(coordinator, lease));
    }

    /**
     * Goes on with a grant that another process has left, or an earlier life of this one: begins its lease anew, and
     * gives the same grant with the same token. The process that has left it must not use it any more; nothing keeps
     * two from holding it together. The lease is that of this object, or the one before if that was longer. Blocks
     * until the store has confirmed it; goes on over lost connections and sessions.
     *
     * @param id as {@link LeasedGrant#id()} gave it
     * @return empty if there is no such grant any more: released, or over and taken by another
     * @throws IllegalArgumentException if it is no id
     * @throws IllegalStateException if another client has overwritten the grant's znode with what is no lease
     * @throws io.conclave.error.RefusedException if the store refuses it
     * @throws InterruptedException if the thread is interrupted; the lease may begin anew anyway
     */
    public Optional<LeasedGrant> resume(String id) throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), resuming(id)).map(HeldLease::new);
    }

    /** As {@link #resume}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Optional<LeasedGrant>> resumeAsync(String id) {
        return RecipeAccess.session(coordinator)
                .onListenerThread(
                        "resuming " + id + " of " + path(), resuming(id).thenApply(hold -> hold.map(HeldLease::new)));
    }

    private CompletableFuture<Optional<LeaseHold>> resuming(String id) {
        return LeaseHold.resume(coordinator, layout, id, wish.record().lease());
    }

    /**
     * The grants whose znodes are there; some may be over, which only a process that waits finds out. Out of date as
     * soon as it is known. Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<LeaseHolder> holders() throws InterruptedException {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Waiting.await(session, readHolders(session));
    }

    /** As {@link #holders()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<LeaseHolder>> holdersAsync() {
        RecipeSession session = RecipeAccess.session(coordinator);
        return session.onListenerThread("holders of " + path(), readHolders(session));
    }

    private CompletionStage<List<LeaseHolder>> readHolders(RecipeSession session) {
        CompletableFuture<List<LeaseHolder>> holders = new CompletableFuture<>();
        session.execute(() -> {
            Request<GetChildren.Children> list = session.forApplication(GetChildren.of(path()));
            Waiting.forward(
                    LeaseLook.of(session, session::read, layout, list).thenApply(LeasedResource::holders), holders);
        });
        return holders;
    }

    private static List<LeaseHolder> holders(Optional<LeaseLook.Seen> seen) {
        return seen.stream()
                .flatMap(all -> all.leases().stream())
                .flatMap(lease -> lease.record().stream()
                        .map(record -> new LeaseHolder(lease.id(), record.owner(), record.permits(), record.lease())))
                .toList();
    }
}
