package io.conclave.membership;

import io.conclave.cache.CachedNode;
import io.conclave.coordinator.Coordinator;
import io.conclave.coordinator.RecipeAccess;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.WaitTimeoutException;
import io.conclave.line.Acquisition;
import io.conclave.node.DataCodec;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipePaths;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.Exists;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A group whose members come and go with their sessions: the group membership of the ZooKeeper recipes page.
 *
 * <pre>{@code
 * Group<String> workers = Group.at(coordinator, "/groups/workers", DataCodec.TEXT);
 * try (Membership<String> me = workers.join("host-7", "idle"); GroupView<String> view = workers.view()) {
 *     view.onChange(update -> System.out.println(update.joined() + " came, " + update.left() + " went"));
 *     me.update("busy");
 * }
 * }</pre>
 *
 * <p>The group is a znode, a member an ephemeral child of it whose name is the member's id and whose data is its
 * payload: as Curator's {@code GroupMember} has it, so both see each other. A child that was created in another way and
 * is not ephemeral counts as a member that stays. An id has one member at a time: a member that joins with one that is
 * taken, by a process that was killed and whose session has not ended yet, say, waits until it is free.
 *
 * <p>A member whose session is lost joins again by itself; see {@link Membership}. A member that is killed disappears
 * when its session ends. Immutable and thread-safe; making one costs nothing.
 *
 * @param <P> the type of the payloads
 */
public final class Group<P> {
    private final Coordinator coordinator;
    private final NodePath path;
    private final DataCodec<P> codec;

    private Group(Coordinator coordinator, NodePath path, DataCodec<P> codec) {
        this.coordinator = Objects.requireNonNull(coordinator, "coordinator");
        this.path = path;
        this.codec = codec;
    }

    /**
     * The group at a path.
     *
     * @throws IllegalArgumentException if the path breaks a rule, naming it
     */
    public static <P> Group<P> at(Coordinator coordinator, String path, DataCodec<P> codec) {
        return at(coordinator, NodePath.of(path), codec);
    }

    /**
     * The group at a path.
     *
     * @throws IllegalArgumentException if it is the root
     */
    public static <P> Group<P> at(Coordinator coordinator, NodePath path, DataCodec<P> codec) {
        RecipePaths.requireOwn(path, "a group");
        return new Group<>(coordinator, path, Objects.requireNonNull(codec, "codec"));
    }

    /**
     * Creates the group, with the parents that it lacks, to stay when it is empty. Not needed before joining, which
     * makes groups that the server deletes some time after the last member has left (containers), where it has them. A
     * group that joining has made stays such a one: to have one that stays, create it before the first member joins.
     * Blocks.
     *
     * <p>A call creates one group at most, over lost replies and sessions.
     *
     * @return false if one is there already, created by another client or call, or by joining; if the reply was lost,
     *     perhaps after another client had deleted the one that this call has created
     * @throws InterruptedException if the thread is interrupted; it may be created nevertheless
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost, the group is not there now, and znodes
     *     beside it have come or gone meanwhile: so it was either created and deleted by another client, or never
     *     created; or the backend refuses to tell. Ask {@link #exists}, and call again if it should be there
     */
    public boolean create() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), createAsync());
    }

    /** As {@link #create()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> createAsync() {
        return new GroupNode(coordinator, path).create();
    }

    /** Whether the group is there, with members or without. Blocks. */
    public boolean exists() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), look());
    }

    /** As {@link #exists()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> existsAsync() {
        return RecipeAccess.session(coordinator).onListenerThread("look at " + path, look());
    }

    private CompletionStage<Boolean> look() {
        return RecipeAccess.read(coordinator, Exists.of(path)).thenApply(Optional::isPresent);
    }

    /**
     * Deletes the group and its members: their memberships end. Members that join meanwhile are deleted too. Not
     * atomic: what was deleted stays so if it fails half-way. A call deletes one group at most: the one that it finds
     * first, over lost replies and sessions, and not one that is made at the path afterwards. Blocks.
     *
     * @return false if it was not there
     * @throws io.conclave.error.RefusedException NOT_EMPTY if a child has children of its own, or members keep joining;
     *     NO_AUTH
     * @throws io.conclave.error.OutcomeUnknownException if a reply was lost and the backend refuses to tell what became
     *     of it, or the coordinator was closed half-way. Delete it again if nothing should be there
     * @throws InterruptedException if the thread is interrupted; it may be deleted anyway
     */
    public boolean delete() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), deleteAsync());
    }

    /** As {@link #delete()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<Boolean> deleteAsync() {
        return new GroupNode(coordinator, path).delete();
    }

    /**
     * Joins, and waits without a limit of time until the id is free. Blocks.
     *
     * @param id any name for a znode: without a slash, not "." or ".."
     * @param payload what others shall know of the member
     * @throws IllegalArgumentException if the id breaks a rule, naming it
     * @throws InterruptedException if the thread is interrupted; nothing stays behind
     * @throws io.conclave.error.ConclaveException if it cannot join
     */
    public Membership<P> join(String id, P payload) throws InterruptedException {
        return joining(enter(id, payload)).await();
    }

    /**
     * As {@link #join(String, Object)}, with a limit of time. With a limit of zero it joins if the id is free.
     *
     * @throws AcquireTimeoutException if the time is over; nothing stays behind
     * @throws io.conclave.error.NotConnectedException if the limit is zero and the store does not answer within the try
     *     timeout
     * @throws IllegalArgumentException if the id breaks a rule, or the timeout is negative
     */
    public Membership<P> join(String id, P payload, Duration timeout) throws InterruptedException {
        Waiting.checkedTimeout(timeout); // first, or a member without an owner would be left
        return joining(enter(id, payload), timeout).await();
    }

    /** Joins without blocking. Completes on a listener thread; cancelling it leaves. */
    public CompletableFuture<Membership<P>> joinAsync(String id, P payload) {
        return joining(enter(id, payload)).stage(Membership::closeAsync);
    }

    /**
     * As {@link #joinAsync(String, Object)}, with a limit of time after which it fails with
     * {@link AcquireTimeoutException}; zero as in {@link #join(String, Object, Duration)}.
     */
    public CompletableFuture<Membership<P>> joinAsync(String id, P payload, Duration timeout) {
        Waiting.checkedTimeout(timeout); // first, or a member without an owner would be left
        return joining(enter(id, payload), timeout).stage(Membership::closeAsync);
    }

    /** Joins without waiting for it: the membership ends by itself if it cannot join. Never blocks. */
    HeldMembership<P> enter(String id, P payload) {
        HeldMembership<P> membership = new HeldMembership<>(coordinator, path.child(id), codec, payload);
        membership.follow();
        return membership;
    }

    private Acquisition<Membership<P>> joining(HeldMembership<P> membership) {
        return Acquisition.of(membership, () -> membership);
    }

    private Acquisition<Membership<P>> joining(HeldMembership<P> membership, Duration timeout) {
        return Acquisition.of(membership, () -> membership, timeout);
    }

    /**
     * The members of the group, in the order of the ids; none if there is no group. Out of date as soon as it is known.
     * Blocks.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public List<Member<P>> members() throws InterruptedException {
        return Waiting.await(RecipeAccess.session(coordinator), membersAsync());
    }

    /** As {@link #members()}, without blocking. Completes on a listener thread. */
    public CompletableFuture<List<Member<P>>> membersAsync() {
        return Waiting.unwrapped(new GroupNode(coordinator, path)
                .read()
                .thenApply(nodes -> nodes.stream().map(this::member).toList()));
    }

    /**
     * Waits until nobody has joined or left for a time, and completes with the members then, in the order of the ids:
     * for work that shall begin when all who start together are there. Changed payloads do not count. A group that does
     * not exist counts as one without members. Never blocks.
     *
     * <p>The time begins anew with each member that comes or goes, also with one that did both while the connection was
     * away. Lost connections and sessions do not end the wait. A caller that also needs a number of members asks again.
     *
     * @param quietPeriod how long, by the coordinator's clock; zero completes with the first list
     * @return completes on a listener thread; fails with {@link io.conclave.error.ClosedException} if the coordinator
     *     is closed, with {@link io.conclave.error.RefusedException} if the backend refuses to list the group;
     *     cancelling it ends the wait
     * @throws IllegalArgumentException if the time is negative
     */
    public CompletableFuture<List<Member<P>>> settled(Duration quietPeriod) {
        return new Settling<>(coordinator, path, quietPeriod, this::read).begin();
    }

    /**
     * As {@link #settled}, and waits for it. Blocks.
     *
     * @throws WaitTimeoutException if the group does not settle in time
     * @throws InterruptedException if the thread is interrupted
     */
    public List<Member<P>> awaitSettled(Duration quietPeriod, Duration timeout) throws InterruptedException {
        Waiting.checkedTimeout(timeout);
        CompletableFuture<List<Member<P>>> settled = settled(quietPeriod);
        RecipeSession session = RecipeAccess.session(coordinator);
        try {
            return Waiting.await(
                    session,
                    settled,
                    timeout,
                    () -> new WaitTimeoutException(
                            path.toString(),
                            timeout,
                            "The group " + path + " did not settle within " + Waiting.text(timeout)
                                    + ": members came or went in each " + Waiting.text(quietPeriod)
                                    + ", or there is no connection to the store"));
        } finally {
            settled.cancel(false);
        }
    }

    private CompletableFuture<List<Member<P>>> read(List<String> ids) {
        return new GroupNode(coordinator, path)
                .read(ids)
                .thenApply(nodes -> nodes.stream().map(this::member).toList());
    }

    Member<P> member(CachedNode node) {
        RecipeSession session = RecipeAccess.session(coordinator);
        return Member.of(node, codec, session.generation());
    }

    /** A live view of the group, which need not exist; it begins to load at once. Never blocks. */
    public GroupView<P> view() {
        return new MirroredView<>(this, coordinator);
    }

    /** The group's znode, in the coordinator's namespace. */
    public NodePath path() {
        return path;
    }

    @Override
    public String toString() {
        return "Group[" + path + ", " + coordinator + "]";
    }
}
