package io.conclave.consensus.core;

import io.conclave.consensus.entry.LogBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a turn asks of the shell, to be done in the order of the components; nothing may leave the member before what
 * stands before it is done.
 *
 * @param vote to be made durable, if it has changed
 * @param messages to be sent; a leader's appends are here and leave before its own write
 * @param cutAfter an index above which the log is to be cut, or -1. Batches above it that an earlier output gave and
 *     that are not written yet must not be written (nor reported as durable) any more
 * @param append batches to be made durable; {@link Core#durable} is called when they are. The shell may be late with
 *     it, and then must keep the order of cuts and appends
 * @param readIndexes answers to this member's reads and heartbeats: the action may run once that index is applied
 * @param notes for the application of this member, which leads; their rounds begin with the next {@link Core#take}
 * @param snapshotsWanted members that need a snapshot: {@link Core#snapshotSending} says that it is on its way
 * @param chunks of a snapshot from the leader, wanted by {@link Core#wantsSnapshot}; the shell answers them
 * @param role what has become of this member, if that has changed; also if it leads as before, but in another term
 * @param caughtUp the member has caught up after its log was cut; the store may forget that it was
 */
public record CoreOutput(
        @Nullable Vote vote,
        List<Envelope> messages,
        long cutAfter,
        List<LogBatch> append,
        List<ReadIndex> readIndexes,
        List<Note> notes,
        List<Integer> snapshotsWanted,
        List<ReceivedChunk> chunks,
        @Nullable CoreRole role,
        boolean caughtUp) {

    /** Whether there is nothing to do; the commit index may have been reported before. */
    public boolean isEmpty() {
        return vote == null
                && messages.isEmpty()
                && cutAfter < 0
                && append.isEmpty()
                && readIndexes.isEmpty()
                && notes.isEmpty()
                && snapshotsWanted.isEmpty()
                && chunks.isEmpty()
                && role == null
                && !caughtUp;
    }

    /** @param votedFor 0 for none */
    public record Vote(long term, int votedFor) {}

    /** A message for a member. */
    public record Envelope(int to, PeerMessage message) {}

    /** The answer to {@link Core#readIndex}. */
    public record ReadIndex(long id, long index) {}

    /** What a member's application tells the leader's; its round begins when the turn ends, not before. */
    public record Note(int from, long id, byte[] note) {}

    /** A chunk of a snapshot, and its sender. */
    public record ReceivedChunk(int from, PeerMessage.SnapshotChunk chunk) {}
}
