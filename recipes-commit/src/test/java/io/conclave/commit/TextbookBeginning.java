package io.conclave.commit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.CreateMode;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.Exists;
import io.conclave.request.Multi;
import io.conclave.request.Operation;
import io.conclave.request.Request;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultRun;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The simplest beginning of a transaction that is correct while others finish and delete it, for mistakes to be planted
 * in: a ticket, a guid and a decision record. All sites are one helper, which commits whatever has begun.
 */
final class TextbookBeginning {
    /** What authors of such beginnings get wrong. */
    enum Mistake {
        /** After a lost reply or a lost session it looks, and begins again if it finds nothing. */
        BEGINS_AGAIN,
        /** What it cannot find out it takes for aborted. */
        ANSWERS_ABORT_FOR_AN_UNKNOWN,
        /** It does not withdraw its ticket, so what has never arrived stays unknown, and could arrive late. */
        DOES_NOT_WITHDRAW,
        /** The process that tidies up deletes the record while its initiator is away. */
        RECORD_IS_DELETED_TOO_EARLY
    }

    private static final NodePath PATH = NodePath.of("/transaction");
    private static final NodePath TRANSACTION = PATH.child("t1");
    private static final NodePath COORDINATOR = TRANSACTION.child("coordinator");
    private static final NodePath RECORD = PATH.child("record");
    private static final String COMMIT = "commit";
    private static final String ABORT = "abort";
    private static final int LOOKS = 100;

    private final FaultRun run;
    private final Actor me;
    private final TextbookRequests requests;
    private final Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);
    private final String guid = UUID.randomUUID().toString();

    TextbookBeginning(FaultRun run, Actor me, Mistake... planted) {
        this.run = run;
        this.me = me;
        this.requests = new TextbookRequests(run, me);
        mistakes.addAll(Arrays.asList(planted));
    }

    /** Makes the parent. */
    void prepare() throws InterruptedException {
        me.coordinator().execute(Create.of(PATH));
    }

    /** Begins, and answers whether it was committed. */
    boolean commit() throws InterruptedException {
        NodePath ticket = PATH.child("ticket-" + UUID.randomUUID());
        createTicket(ticket);
        try {
            me.coordinator().execute(beginning(ticket));
        } catch (OutcomeUnknownException | SessionGoneException e) {
            if (!mistakes.contains(Mistake.DOES_NOT_WITHDRAW) && withdraw(ticket)) {
                return false;
            }
        }
        return outcome();
    }

    private void createTicket(NodePath ticket) throws InterruptedException {
        persistently(Create.of(ticket));
    }

    private Multi beginning(NodePath ticket) {
        List<Operation<?>> operations = new ArrayList<>();
        operations.add(Delete.of(ticket));
        operations.add(Create.of(RECORD));
        operations.add(Delete.of(RECORD));
        operations.add(Create.of(TRANSACTION).withData(guid.getBytes(UTF_8)));
        operations.add(Create.of(COORDINATOR).withMode(CreateMode.EPHEMERAL));
        return new Multi(operations);
    }

    /** Whether it has not begun, and cannot begin any more. */
    private boolean withdraw(NodePath ticket) throws InterruptedException {
        Multi multi = Multi.of(
                Delete.of(ticket),
                Create.of(RECORD).withData((guid + "\n" + ABORT).getBytes(UTF_8)),
                Create.of(TRANSACTION),
                Delete.of(TRANSACTION));
        return persistently(multi);
    }

    /** What has become of it. */
    private boolean outcome() throws InterruptedException {
        while (true) {
            String there = requests.text(TRANSACTION);
            String record = there.equals(guid) ? "" : requests.text(RECORD);
            if (record.startsWith(guid)) {
                return record.endsWith(COMMIT);
            }
            if (!there.equals(guid)) {
                return notFound();
            }
            run.pause(TextbookRequests.LOOK_INTERVAL);
        }
    }

    private boolean notFound() throws InterruptedException {
        if (mistakes.contains(Mistake.BEGINS_AGAIN)) {
            return commit();
        }
        if (mistakes.contains(Mistake.ANSWERS_ABORT_FOR_AN_UNKNOWN)) {
            return false;
        }
        throw new OutcomeUnknownException("neither " + TRANSACTION + " nor " + RECORD + " of " + guid);
    }

    /**
     * Commits whatever has begun, and deletes it when the process that began it is gone or has had time to see that.
     *
     * @param committed how often something was committed
     * @param deletesRecords whether records go two seconds later, as if an operator had deleted them
     */
    void finishWhateverBegins(AtomicInteger committed, boolean deletesRecords) throws InterruptedException {
        String last = "";
        int looksWithout = 0;
        for (int look = 0; look < LOOKS; look++) {
            String there = requests.text(TRANSACTION);
            looksWithout = there.isEmpty() ? looksWithout + 1 : 0;
            if (there.isEmpty()) {
                last = "";
                if (looksWithout > 4 && (deletesRecords || mistakes.contains(Mistake.RECORD_IS_DELETED_TOO_EARLY))) {
                    persistently(Delete.of(RECORD));
                }
            } else if (!there.equals(last)) {
                last = there;
                committed.incrementAndGet();
            } else {
                finish(there);
            }
            run.pause(TextbookRequests.LOOK_INTERVAL.multipliedBy(2));
        }
    }

    private void finish(String begun) throws InterruptedException {
        List<Operation<?>> operations = new ArrayList<>();
        if (me.coordinator().execute(Exists.of(COORDINATOR)).isPresent()) {
            operations.add(Delete.of(COORDINATOR));
        }
        operations.add(Delete.of(TRANSACTION));
        operations.add(Create.of(RECORD).withData((begun + "\n" + COMMIT).getBytes(UTF_8)));
        persistently(new Multi(operations));
    }

    /** Whether it is known to have been carried out; if not, it was refused. */
    private boolean persistently(Request<?> request) throws InterruptedException {
        return requests.send(request).isEmpty();
    }
}
