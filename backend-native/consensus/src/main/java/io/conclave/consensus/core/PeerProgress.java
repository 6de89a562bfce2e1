package io.conclave.consensus.core;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a leader knows of another member's log.
 *
 * <pre>
 *   PROBE -- accepted --> REPLICATE -- refused, or the link is new --> PROBE
 *     any -- its next batch is not in memory --> SNAPSHOT -- installed, or it has the base --> PROBE
 * </pre>
 */
final class PeerProgress {
    enum State {
        /** Looks for the last equal place, one append at a time. */
        PROBE,
        /** Sends ahead, within bounds. */
        REPLICATE,
        /** Waits for the shell to send a snapshot, and what follows it and is not in memory. */
        SNAPSHOT
    }

    private record Sent(long lastIndex, long bytes) {}

    private final Deque<Sent> inFlight = new ArrayDeque<>();
    private long inFlightBytes;

    State state = State.PROBE;
    /** The first index that is sent next. */
    long nextIndex;
    /** Durable there and equal to ours, as far as it has reported on this link. */
    long matchIndex;
    /** In PROBE: an append is under way. */
    boolean probing;
    /** In SNAPSHOT: what the one under way stands for; 0 if none is. */
    long snapshotIndex;

    /**
     * The last place at which the member's log is equal to ours (it acknowledged that), or may be (it refused what is
     * behind it), as it said on this link; the start if it said neither. The log in the files follows from here.
     */
    EntryPlace place = EntryPlace.START;

    boolean linked;
    long heardMs;
    long sentMs;
    /** When the shell was last asked for a snapshot, or heard that the member got a chunk of it. */
    long snapshotMs;

    long sentCommitIndex;
    long sentRound;
    long acknowledgedRound;
    /** Answers to rounds before this belong to a former link. */
    long firstRound;

    PeerProgress(long nextIndex, long nowMs, boolean linked) {
        this.nextIndex = nextIndex;
        this.heardMs = nowMs;
        this.sentMs = nowMs;
        this.linked = linked;
    }

    void probe(long fromIndex) {
        state = State.PROBE;
        nextIndex = fromIndex;
        probing = false;
        inFlight.clear();
        inFlightBytes = 0;
        snapshotIndex = 0;
    }

    void replicate() {
        probe(Math.max(nextIndex, matchIndex + 1));
        state = State.REPLICATE;
    }

    void wantSnapshot(long nowMs) {
        probe(nextIndex);
        state = State.SNAPSHOT;
        snapshotMs = nowMs;
    }

    /** A new link: what was under way is lost, and what was acknowledged is not relied on any more. */
    void relink(long round) {
        linked = true;
        place = EntryPlace.START;
        matchIndex = 0;
        firstRound = round;
        sentRound = 0;
        sentCommitIndex = 0;
        if (state == State.REPLICATE) {
            probe(nextIndex);
        }
        probing = false;
    }

    boolean hasRoom(CoreOptions options) {
        return inFlight.size() < options.inFlightAppends() && inFlightBytes < options.inFlightBytes();
    }

    void sent(long lastIndex, long bytes) {
        inFlight.add(new Sent(lastIndex, bytes));
        inFlightBytes += bytes;
        nextIndex = lastIndex + 1;
    }

    void acknowledged(long index) {
        matchIndex = Math.max(matchIndex, index);
        while (!inFlight.isEmpty() && inFlight.peek().lastIndex() <= index) {
            inFlightBytes -= inFlight.remove().bytes();
        }
    }

    /** Batches up to here will not be asked for. */
    long needsAfter() {
        return state == State.SNAPSHOT && snapshotIndex > 0 ? snapshotIndex : Math.max(matchIndex, probeBase());
    }

    private long probeBase() {
        return state == State.REPLICATE ? matchIndex : nextIndex - 1;
    }
}
