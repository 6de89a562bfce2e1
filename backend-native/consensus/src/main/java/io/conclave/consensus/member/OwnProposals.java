package io.conclave.consensus.member;

import io.conclave.consensus.Proposal;
import io.conclave.consensus.Rejection;
import io.conclave.consensus.entry.ClusterConfiguration;
import io.conclave.consensus.entry.LogEntry;
import io.conclave.consensus.entry.LogEntryKind;
import io.conclave.consensus.entry.LogState.Proposer;
import io.conclave.consensus.entry.Origin;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.member.ProposalQueue.Proposed;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this member has proposed and not seen applied, numbered and in order. It is sent to the leader, and again from
 * the oldest to each new leader; the numbers let every member apply each once. Nothing is numbered before this start's
 * STARTED entry is applied, whose index is the incarnation.
 */
final class OwnProposals implements LogApplier.ApplyListener {
    private static final Logger log = LoggerFactory.getLogger(OwnProposals.class);

    /** Most bytes handed to a leader and not seen applied, so that what it costs to send them again is bounded. */
    private static final long IN_FLIGHT_BYTES = 16 << 20;

    private static final class Pending {
        final long number;
        LogEntry entry;

        /**
         * Null once the leader has given it up: it was rejected, and the entry without effect is still to be applied.
         */
        @Nullable
        Proposed item;

        /** How often it was handed to a leader: so many copies there may be. */
        int sendings;

        /** The leader that it was handed to last. */
        int sentTo;

        Pending(Proposed item, long number, LogEntry entry) {
            this.item = item;
            this.number = number;
            this.entry = entry;
        }

        boolean isRefused() {
            return item == null;
        }

        /** What it counts for. */
        int bytes() {
            return item == null ? 0 : item.bytes();
        }
    }

    private final ProposalQueue queue;
    private final int memberId;
    private final LongSupplier nonces;

    /** Handed to the present leader; older than all in unsent. */
    private final Deque<Pending> sent = new ArrayDeque<>();

    private final Deque<Pending> unsent = new ArrayDeque<>();
    private Start start = Start.NONE;
    private long nonce;
    private long incarnation;
    private long lastSequence;
    private long lastNumber;
    private long sentBytes;
    private boolean startSent;
    private boolean gap;

    /** How many of the pending ones are refused. */
    private int refused;

    OwnProposals(ProposalQueue queue, int memberId, LongSupplier nonces) {
        this.queue = queue;
        this.memberId = memberId;
        this.nonces = nonces;
        nonce = nonces.getAsLong();
    }

    /** Which start of the member this is; before anything is proposed. */
    void startedAs(Start thisStart) {
        start = thisStart;
    }

    /** Whether proposals can be numbered. */
    boolean isStarted() {
        return incarnation != 0;
    }

    /** Whether all proposals have had their outcome. */
    boolean isEmpty() {
        return settled() == lastNumber;
    }

    /** The number, in the order in which they came, of the last proposal taken. */
    long lastNumber() {
        return lastNumber;
    }

    /** All proposals up to this number have had their outcome. */
    long settled() {
        Pending open = refused == 0 ? oldest() : oldestOpen();
        return open == null ? lastNumber : open.number - 1;
    }

    private @Nullable Pending oldestOpen() {
        return Stream.concat(sent.stream(), unsent.stream())
                .filter(pending -> !pending.isRefused())
                .findFirst()
                .orElse(null);
    }

    /** A leader has refused a proposal for want of room, and the entry in its place is not applied yet. */
    boolean awaitsRoom() {
        return refused > 0;
    }

    private @Nullable Pending oldest() {
        Pending first = sent.peek();
        return first != null ? first : unsent.peek();
    }

    /** Numbers a proposal taken from the queue. */
    void add(Proposed item) {
        lastNumber++;
        unsent.add(new Pending(item, lastNumber, entryOf(item)));
    }

    private LogEntry entryOf(Proposed item) {
        lastSequence++;
        return new LogEntry(item.kind(), new Origin(memberId, incarnation, lastSequence), item.payload());
    }

    /** The next entries for the leader of the term, as many as fit; counted as sent. */
    List<LogEntry> next(int leader, long term, int maxBytes) {
        List<LogEntry> entries = new ArrayList<>();
        if (incarnation == 0) {
            if (!startSent) {
                startSent = true;
                entries.add(new Started(memberId, nonce, start).entry());
            }
            return entries;
        }
        int bytes = 0;
        for (Pending first = unsent.peek(); first != null; first = unsent.peek()) {
            bytes += LogEntry.OVERHEAD_BYTES + first.bytes();
            if ((bytes > maxBytes && !entries.isEmpty()) || (sentBytes > IN_FLIGHT_BYTES && !sent.isEmpty())) {
                break;
            }
            sentBytes += first.bytes();
            first.sendings++;
            first.sentTo = leader;
            entries.add(counts(first, term) ? first.entry : withoutEffect(first.entry));
            sent.add(unsent.remove());
        }
        return entries;
    }

    /**
     * A feature level is what all members understood as its leader knew. In a later term a member may have gone back to
     * earlier software, which the level would end.
     */
    private static boolean counts(Pending pending, long term) {
        Proposed item = pending.item;
        return item == null || item.kind() != LogEntryKind.FEATURE_LEVEL || item.leadingTerm() == term;
    }

    /** The lowest level, which is in force anyway; the entry keeps its place in the sequence. */
    static LogEntry withoutEffect(LogEntry entry) {
        return new LogEntry(LogEntryKind.FEATURE_LEVEL, entry.origin(), new byte[Integer.BYTES]);
    }

    /** What was sent may be lost: there is another leader, or another link to it. */
    void sendAgain() {
        startSent = false;
        sentBytes = 0;
        while (!sent.isEmpty()) {
            unsent.addFirst(sent.removeLast());
        }
    }

    /**
     * A leader has put entries without effect in the places of these. What was sent only once, to that one, was given
     * up with that, and is rejected. Of the rest another copy may be in a log: what is applied with its number will
     * tell.
     */
    void refused(int leader, long ofIncarnation, long firstSequence, long lastSequence) {
        if (incarnation == 0 || ofIncarnation != incarnation) {
            return;
        }
        for (Pending pending : sent) {
            if (isOnlyCopy(pending, leader, firstSequence, lastSequence)) {
                sentBytes -= pending.bytes();
                reject(pending);
            }
        }
        for (Pending pending : unsent) { // there is another leader, which was not sent it yet
            if (isOnlyCopy(pending, leader, firstSequence, lastSequence)) {
                reject(pending);
            }
        }
    }

    private static boolean isOnlyCopy(Pending pending, int leader, long firstSequence, long lastSequence) {
        long sequence = pending.entry.origin().sequence();
        return sequence >= firstSequence
                && sequence <= lastSequence
                && pending.sendings == 1
                && pending.sentTo == leader
                && pending.entry.kind() == LogEntryKind.APPLICATION;
    }

    private void reject(Pending pending) {
        Proposed item = Objects.requireNonNull(pending.item);
        pending.item = null;
        pending.entry = withoutEffect(pending.entry);
        refused++;
        queue.reject(item, Rejection.DISK_FULL);
    }

    /**
     * An entry of this member is applied; its proposal if it was made since the start. An entry without effect in the
     * place of a write is a leader's refusal of it.
     */
    @Override
    public @Nullable Proposal accepted(Origin origin, LogEntryKind kind) {
        Pending oldest = oldest();
        if (incarnation == 0 || origin.incarnation() != incarnation) {
            return null;
        }
        if (oldest == null || oldest.entry.origin().sequence() != origin.sequence()) {
            throw new IllegalStateException(origin + " is applied, but the oldest pending one is "
                    + (oldest == null ? "none" : oldest.entry.origin()));
        }
        take(oldest);
        Proposed item = oldest.item;
        if (item == null) {
            if (kind == LogEntryKind.APPLICATION) {
                throw new IllegalStateException(origin + " is applied, and was refused");
            }
            return null;
        }
        if (item.kind() != kind) {
            queue.reject(item, Rejection.DISK_FULL);
            return null;
        }
        queue.release(item.bytes());
        return item.proposal();
    }

    /** Its room in the queue is given back with its outcome. */
    private void take(Pending oldest) {
        if (sent.peek() == oldest) {
            sent.remove();
            sentBytes -= oldest.bytes();
        } else {
            unsent.remove();
        }
        refused -= oldest.isRefused() ? 1 : 0;
    }

    /** What was not applied is a copy, or its predecessor was lost. */
    @Override
    public void discarded(Origin origin) {
        Pending oldest = oldest();
        if (origin.incarnation() == incarnation
                && oldest != null
                && origin.sequence() > oldest.entry.origin().sequence()) {
            gap = true;
        }
    }

    /**
     * Whether a predecessor of what was applied since the last call is missing; nothing but sending again helps then.
     */
    boolean takeGap() {
        boolean was = gap;
        gap = false;
        return was;
    }

    @Override
    public void started(Started started, long index) {
        if (started.member() != memberId) {
            return;
        }
        if (started.nonce() == nonce) {
            begin(index);
        } else if (incarnation != 0) {
            log.warn("another start of member {} was applied at index {}; starting again", memberId, index);
            beginAnew();
        }
    }

    private void begin(long index) {
        incarnation = index;
        lastSequence = 0;
        sendAgain();
        unsent.removeIf(Pending::isRefused); // only its number was still needed
        refused = 0;
        for (Pending pending : unsent) {
            pending.entry = entryOf(Objects.requireNonNull(pending.item));
            pending.sendings = 0;
        }
    }

    /**
     * What is pending was numbered in an incarnation that has ended: it is certainly not applied, and gets new numbers.
     */
    private void beginAnew() {
        sendAgain();
        incarnation = 0;
        nonce = nonces.getAsLong();
    }

    @Override
    public void configured(ClusterConfiguration configuration) {
        boolean belongs = configuration.members().containsKey(memberId);
        if (incarnation != 0 && !belongs) {
            beginAnew();
        } else if (incarnation == 0 && belongs) {
            startSent = false; // a leader ignores a sender that is no member
        }
    }

    /** A snapshot has taken the place of the log: what it has overtaken has an outcome that stays unknown here. */
    void installed(@Nullable Proposer proposer) {
        if (proposer != null && proposer.nonce() == nonce) {
            if (incarnation != proposer.incarnation()) {
                if (incarnation != 0) {
                    forget(Long.MAX_VALUE); // removed and put back meanwhile, with a copy of the start behind that
                }
                begin(proposer.incarnation());
            }
            forget(proposer.lastSequence());
        } else if (incarnation != 0) {
            forget(Long.MAX_VALUE);
            beginAnew();
        } else {
            sendAgain();
        }
    }

    private void forget(long upToSequence) {
        for (Pending oldest = oldest();
                oldest != null && oldest.entry.origin().sequence() <= upToSequence;
                oldest = oldest()) {
            take(oldest);
            Proposed item = oldest.item;
            if (item == null) {
                continue;
            }
            queue.release(item.bytes());
            try {
                item.proposal().outcomeUnknown();
            } catch (RuntimeException e) {
                log.error("the handler of an unknown outcome threw", e);
            }
        }
    }

    /** The end: the outcome of these stays unknown. */
    void abandon() {
        forget(Long.MAX_VALUE);
    }
}
