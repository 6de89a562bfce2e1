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
 * @param cutAfter an index above which the log is to be cut, or -1
 * @param append batches to be made durable; {@link Core#durable} is called when they are. The shell may be late with
 *     it, and then must keep the order of cuts and appends
 * @param commitIndex what is committed and in this member's log
 * @param confirmed reads and signs of life of this member whose index is now known: the action may run once that is
 *     applied
 * @param notes for the application of this member, which leads
 * @param snapshotsWanted members that need a snapshot, or the next pieces of one
 * @param role what has become of this member, if that has changed
 */
public record Output(
        @Nullable Vote vote,
        List<Envelope> messages,
        long cutAfter,
        List<LogBatch> append,
        long commitIndex,
        List<Confirmed> confirmed,
        List<Note> notes,
        List<Integer> snapshotsWanted,
        @Nullable CoreRole role) {

    /** @param votedFor 0 for nobody */
    public record Vote(long term, int votedFor) {}

    /** A message for a member. */
    public record Envelope(int to, PeerMessage message) {}

    /** The answer to {@link Core#confirm}. */
    public record Confirmed(long id, long index) {}

    /** What a member's application says to the leader's; the confirmation is begun when the turn ends, not before. */
    public record Note(int from, byte[] note) {}
}
