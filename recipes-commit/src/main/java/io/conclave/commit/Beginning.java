package io.conclave.commit;

import io.conclave.error.ClosedException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.line.ProcessName;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.recipe.Failures;
import io.conclave.recipe.ParentMaker;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.recovery.Retry;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.GetData;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins one transaction at most once, and finds out what has become of it.
 *
 * <p>How it goes:
 *
 * <ol>
 *   <li>Create a ticket, until that is acknowledged. A ticket belongs to one session and has a name of its own.
 *   <li>Begin, in one transaction of the backend that deletes the ticket: so it is carried out once, however often it
 *       is sent, and whatever has been deleted since. It also creates and deletes the decision record, so it is refused
 *       where the id was used. The rest is the transaction's znode, one for each site's vote, and an entry in each
 *       site's inbox: no site is forgotten.
 *   <li>The reply is lost: send it again on the same session. The ticket is gone: look.
 *   <li>That is refused: the ticket is there if the refusal comes from the tree, where operations are tried in order.
 *       But a server may look at its limits before. Then delete the ticket, which proves the same. It is gone: look.
 *   <li>The session is lost as well: never begin again. Withdraw the ticket and leave a record to abort, so that what
 *       is still under way is refused. The ticket is gone: look.
 *   <li>Look: the transaction or its decision record with our guid tells. With neither the outcome is unknown.
 * </ol>
 *
 * <p>State belongs to the dispatcher of the initiator's current session.
 */
final class Beginning {
    private static final Logger LOG = LoggerFactory.getLogger(Beginning.class);
    private static final int TICKET = 0; // index in the transaction that begins, and in the one that withdraws
    private static final int RECORD = 1;
    private static final int PATH = 3;

    private final TransactionLayout layout;
    private final TransactionRecord record;
    private final Caller caller;
    private @Nullable NodePath ticket; // not known to be gone
    private final Set<NodePath> unused = new CopyOnWriteArraySet<>(); // of lost sessions, not known to be gone
    private boolean mayHaveBegun; // a beginning was sent, and it is not known what it did

    /** What is called for it, on the dispatcher. */
    interface Caller {
        /** The transaction stands there, begun by us. */
        void begun(RecipeSession on);

        /** Its decision record stands there: nothing is left to do. */
        void recorded(Decision decision);

        /** It has not begun and will not, or that is not known: the types of failures tell. */
        void failed(Throwable cause);

        /** Whether no caller waits for it any more, so that it is not to begin. */
        boolean isAbandoned();

        /** Whether the answers of this session still count. */
        boolean isCurrent(RecipeSession on);
    }

    Beginning(TransactionLayout layout, TransactionRecord record, Caller caller) {
        this.layout = layout;
        this.record = record;
        this.caller = caller;
    }

    /** Whether it may have begun, as far as is known. */
    boolean mayHaveBegun() {
        return mayHaveBegun;
    }

    /** Begins, or withdraws what another session has sent. */
    void goOn(RecipeSession on) {
        if (mayHaveBegun) {
            withdraw(on);
        } else {
            NodePath last = ticket;
            if (last != null) {
                unused.add(last);
            }
            unused.forEach(one -> discard(on, one));
            NodePath fresh = layout.ticket(UUID.randomUUID().toString());
            ticket = fresh;
            createTicket(on, fresh);
        }
    }

    /** Sends. What comes when the session is over does not count: its state tells what follows. */
    private <R> void send(
            RecipeSession on, Request<R> request, Consumer<? super R> onAnswer, Consumer<? super Throwable> onFailure) {
        on.send(
                request,
                answer -> {
                    if (caller.isCurrent(on)) {
                        onAnswer.accept(answer);
                    }
                },
                cause -> {
                    if (!isOver(on, cause)) {
                        onFailure.accept(cause);
                    }
                });
    }

    private void createTicket(RecipeSession on, NodePath fresh) {
        send(
                on,
                Create.of(fresh).withData(layout.id().getBytes(StandardCharsets.UTF_8)),
                created -> begin(on, fresh),
                cause -> {
                    if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                        begin(on, fresh); // the reply was lost
                    } else if (Failures.isNoNode(cause)) {
                        makeParents(on, () -> createTicket(on, fresh));
                    } else if (cause instanceof OutcomeUnknownException) {
                        CommitMetrics.failed(on, layout, cause);
                        createTicket(on, fresh);
                    } else {
                        caller.failed(cause);
                    }
                });
    }

    private void begin(RecipeSession on, NodePath with) {
        if (!caller.isCurrent(on)) {
            return;
        }
        if (caller.isAbandoned()) {
            abandon(on);
            return;
        }
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Delete.of(with));
        operations.add(Create.of(layout.record())); // refused if the id was used
        operations.add(Delete.of(layout.record()));
        operations.add(Create.of(layout.path()).withData(record.toBytes()));
        operations.add(
                Create.of(layout.coordinator()).withData(ProcessName.bytes()).withMode(CreateMode.EPHEMERAL));
        for (String site : record.sites()) {
            operations.add(Create.of(layout.vote(site)));
            operations.add(Create.of(layout.entry(site)));
        }
        boolean wasUnknown = mayHaveBegun;
        mayHaveBegun = true; // until it is known, also if no answer comes
        send(
                on,
                new Multi(operations),
                results -> {
                    ticket = null;
                    caller.begun(on);
                },
                cause -> onNotBegun(on, with, cause, wasUnknown));
    }

    private void onNotBegun(RecipeSession on, NodePath with, Throwable cause, boolean wasUnknown) {
        boolean ticketIsGone = Failures.is(cause, RefusalReason.NO_NODE, TICKET);
        if (cause instanceof OutcomeUnknownException) {
            CommitMetrics.failed(on, layout, cause);
            begin(on, with);
        } else if (ticketIsGone && wasUnknown) {
            look(on);
        } else if (wasUnknown
                && !namesOperation(cause)) { // it was not carried out: that says nothing of the earlier one
            repeatIfItMayPass(on, cause, () -> begin(on, with));
        } else if (wasUnknown && !Failures.isStateChanged(cause)) { // perhaps a limit: the ticket was not looked for
            withdrawTicket(on, with, cause);
        } else {
            mayHaveBegun = false; // the ticket is there, or was never used
            onRefused(on, with, cause, ticketIsGone);
        }
    }

    private void onRefused(RecipeSession on, NodePath with, Throwable cause, boolean ticketIsGone) {
        if (ticketIsGone) {
            goOn(on); // it was deleted; another one will do
        } else if (Failures.is(cause, RefusalReason.NO_NODE, RECORD)) {
            makeParents(on, List.of(layout.recordShard()).iterator(), () -> begin(on, with));
        } else if (Failures.isNoNode(cause)) {
            makeParents(on, () -> begin(on, with));
        } else {
            caller.failed(explained(cause));
        }
    }

    private static boolean namesOperation(Throwable cause) {
        return cause instanceof RefusedException refused
                && refused.operationIndex().isPresent();
    }

    private Throwable explained(Throwable refusal) {
        String words = "";
        if (Failures.is(refusal, RefusalReason.NODE_EXISTS, RECORD)) {
            words = "has been used: " + layout.record() + " keeps its decision, which decision(id) tells.";
        } else if (Failures.is(refusal, RefusalReason.NODE_EXISTS, PATH)) {
            words = "is in use: " + layout.path() + " was begun by another call.";
        }
        return words.isEmpty()
                ? refusal
                : new RefusedException(
                        RefusalReason.NODE_EXISTS,
                        "Transaction id \"" + layout.id() + "\" " + words + " Use an id that was not used before");
    }

    /**
     * No caller waits any more: a request that may have been sent must not begin it, and a begun transaction is to be
     * aborted.
     */
    private void abandon(RecipeSession on) {
        if (mayHaveBegun) {
            withdraw(on);
        } else {
            caller.failed(new ClosedException("Given up before it began: " + this));
        }
    }

    /** What was sent must not begin any more, if it has not begun yet. */
    private void withdraw(RecipeSession on) {
        NodePath sent = ticket;
        if (sent == null) {
            look(on); // it was found gone, and the session was lost while it looked
            return;
        }
        Decision decision = Decision.abort(
                caller.isAbandoned()
                        ? "given up by the process that began it"
                        : "the session of the process that began it was lost at the beginning");
        Multi multi = Multi.of(
                Delete.of(sent),
                Create.of(layout.record()).withData(record.decided(decision).toBytes()),
                Create.of(layout.path()), // refused if the id is in use
                Delete.of(layout.path()));
        send(
                on,
                multi,
                results -> {
                    ticket = null;
                    LOG.debug("{}: withdrawn", this);
                    caller.recorded(decision);
                },
                cause -> {
                    if (Failures.is(cause, RefusalReason.NO_NODE, TICKET)) {
                        look(on);
                    } else if (Failures.isNoNode(cause)) {
                        makeParents(on, () -> withdraw(on));
                    } else if (Failures.is(cause, RefusalReason.NODE_EXISTS)) {
                        withdrawTicket(on, sent, usedByAnother(cause));
                    } else {
                        repeatIfItMayPass(on, cause, () -> withdraw(on));
                    }
                });
    }

    private RefusedException usedByAnother(Throwable refusal) {
        return new RefusedException(
                RefusalReason.NODE_EXISTS,
                "Transaction id \"" + layout.id() + "\" is used by another call, and this one has not begun. Use an id"
                        + " that was not used before: " + refusal.getMessage());
    }

    /**
     * What was sent was refused, or cannot be withdrawn with a record. If our ticket is there, it has not begun.
     *
     * @param refusal what the caller is told then
     */
    private void withdrawTicket(RecipeSession on, NodePath sent, Throwable refusal) {
        send(
                on,
                Delete.of(sent),
                deleted -> {
                    ticket = null;
                    mayHaveBegun = false;
                    caller.failed(refusal);
                },
                cause -> {
                    if (Failures.isNoNode(cause)) {
                        look(on);
                    } else {
                        repeatIfItMayPass(on, cause, () -> withdrawTicket(on, sent, refusal));
                    }
                });
    }

    /** Finds out what has become of what has begun, or may have: only reads. */
    void look(RecipeSession on) {
        ticket = null;
        send(
                on,
                GetData.of(layout.path()).linearizable(),
                node -> {
                    boolean isOurs = TransactionRecord.parse(node.data())
                            .filter(there -> there.guid().equals(record.guid()))
                            .isPresent();
                    if (isOurs) {
                        caller.begun(on);
                    } else {
                        caller.failed(unknown("another transaction of this id stands there", null));
                    }
                },
                cause -> onNotRead(on, cause, () -> lookForRecord(on)));
    }

    private void lookForRecord(RecipeSession on) {
        send(
                on,
                GetData.of(layout.record()).linearizable(),
                node -> {
                    Optional<DecisionRecord> ours = DecisionRecord.parse(node.data())
                            .filter(there -> there.guid().equals(record.guid()));
                    if (ours.isPresent()) {
                        caller.recorded(ours.get().decision());
                    } else {
                        caller.failed(unknown(layout.record() + " is of another transaction of this id", null));
                    }
                },
                cause -> onNotRead(on, cause, () -> {
                    String nothing = "neither " + layout.path() + " nor " + layout.record() + " is there";
                    caller.failed(unknown(nothing, null));
                }));
    }

    private void onNotRead(RecipeSession on, Throwable cause, Runnable ifThereIsNone) {
        if (Failures.isNoNode(cause)) {
            ifThereIsNone.run();
        } else {
            repeatIfItMayPass(on, cause, () -> look(on));
        }
    }

    private void repeatIfItMayPass(RecipeSession on, Throwable cause, Runnable again) {
        CommitMetrics.failed(on, layout, cause);
        Retry.ifItMayPass(
                on, this, cause, again, refusal -> caller.failed(unknown("to find out was refused", refusal)));
    }

    OutcomeUnknownException unknown(String why, @Nullable Throwable cause) {
        String message = "It is not known what became of the transaction " + layout.path() + ": " + why
                + ". It does not begin again; decision(id) tells what was decided, as long as that is kept";
        return cause == null ? new OutcomeUnknownException(message) : new OutcomeUnknownException(message, cause);
    }

    /** Deletes the ticket, if there is one: what was sent with it will not begin any more. */
    void returnTicket(RecipeSession on, Runnable then) {
        NodePath last = ticket;
        if (last == null) {
            then.run();
            return;
        }
        on.send(Delete.of(last), deleted -> returned(then), cause -> {
            if (cause instanceof OutcomeUnknownException) {
                returnTicket(on, then);
            } else if (!isOver(on, cause)) {
                returned(then);
            }
        });
    }

    private void returned(Runnable then) {
        ticket = null;
        then.run();
    }

    /** Of another session, on which nothing was sent with it. */
    private void discard(RecipeSession on, NodePath last) {
        on.send(Delete.of(last), deleted -> unused.remove(last), cause -> {
            if (cause instanceof OutcomeUnknownException) {
                discard(on, last);
            } else if (!isOver(on, cause)) {
                unused.remove(last);
            } // else the next session goes on, or a sweep finds it
        });
    }

    private void makeParents(RecipeSession on, Runnable then) {
        List<NodePath> parents = new ArrayList<>(List.of(
                TransactionLayout.transactions(layout.base()),
                TransactionLayout.tickets(layout.base()),
                layout.recordShard()));
        record.sites().forEach(site -> parents.add(TransactionLayout.inbox(layout.base(), site)));
        makeParents(on, parents.iterator(), then);
    }

    private void makeParents(RecipeSession on, Iterator<NodePath> parents, Runnable then) {
        if (!parents.hasNext()) {
            then.run();
            return;
        }
        Waiting.whenDone(
                ParentMaker.makePersistent(on, parents.next()),
                made -> on.execute(() -> makeParents(on, parents, then)),
                cause -> on.execute(() -> onNoParents(on, cause, then)));
    }

    private void onNoParents(RecipeSession on, Throwable cause, Runnable then) {
        if (isOver(on, cause)) {
            return;
        }
        if (mayHaveBegun) {
            repeatIfItMayPass(on, cause, then);
        } else if (cause instanceof OutcomeUnknownException) {
            then.run();
        } else {
            caller.failed(cause);
        }
    }

    /** Whether nothing more comes of this session; its state tells what follows. */
    private boolean isOver(RecipeSession on, Throwable cause) {
        return !caller.isCurrent(on) || Failures.isSessionOver(cause);
    }

    @Override
    public String toString() {
        return "Transaction " + layout.path() + " at " + record.sites();
    }
}
