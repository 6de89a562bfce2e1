package io.conclave.protocol;

import java.util.List;

/**
 * Sets watches again after a reconnect; those whose change was missed fire at once.
 *
 * @param opCode {@link OpCode#SET_WATCHES}, which knows no persistent watches, or {@link OpCode#SET_WATCHES2}
 * @param relativeZxid the newest change that the client has seen
 * @param dataWatches the paths of data watches
 * @param existWatches the paths of watches on nodes that did not exist
 * @param childWatches the paths of watches of lists of children
 * @param persistentWatches the paths of persistent watches; on the wire with SET_WATCHES2 only, else empty
 * @param persistentRecursiveWatches the paths of persistent recursive watches; on the wire with SET_WATCHES2 only, else
 *     empty
 */
public record SetWatchesRequest(
        OpCode opCode,
        long relativeZxid,
        List<String> dataWatches,
        List<String> existWatches,
        List<String> childWatches,
        List<String> persistentWatches,
        List<String> persistentRecursiveWatches)
        implements RequestBody {

    /** Checks that the operation is one of the two and that only the second has persistent watches. */
    public SetWatchesRequest {
        if (opCode != OpCode.SET_WATCHES && opCode != OpCode.SET_WATCHES2) {
            throw new IllegalArgumentException(opCode + " does not set watches again");
        }
        boolean persistent = !persistentWatches.isEmpty() || !persistentRecursiveWatches.isEmpty();
        if (opCode == OpCode.SET_WATCHES && persistent) {
            throw new IllegalArgumentException("SET_WATCHES cannot carry persistent watches, SET_WATCHES2 can");
        }
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeLong(relativeZxid);
        out.writeStrings(dataWatches);
        out.writeStrings(existWatches);
        out.writeStrings(childWatches);
        if (opCode == OpCode.SET_WATCHES2) {
            out.writeStrings(persistentWatches);
            out.writeStrings(persistentRecursiveWatches);
        }
    }

    static SetWatchesRequest decode(OpCode opCode, JuteReader in) {
        boolean persistent = opCode == OpCode.SET_WATCHES2;
        return new SetWatchesRequest(
                opCode,
                in.readLong("relativeZxid"),
                in.readStrings("dataWatches"),
                in.readStrings("existWatches"),
                in.readStrings("childWatches"),
                persistent ? in.readStrings("persistentWatches") : List.of(),
                persistent ? in.readStrings("persistentRecursiveWatches") : List.of());
    }
}
