package io.conclave.protocol;

import java.util.List;

/** The requests about watches. Where a record does not say otherwise, {@code path} is the node. */
public sealed interface WatchRequest extends RequestBody {

    /**
     * Adds a persistent watch. Answered by {@link ReplyBody.Err} with 0.
     *
     * @param mode a {@link WatchMode}, known or not
     */
    record AddWatch(String path, int mode) implements WatchRequest {
        @Override
        public OpCode opCode() {
            return OpCode.ADD_WATCH;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeInt(mode);
        }

        static AddWatch decode(JuteReader in) {
            return new AddWatch(in.readPathIfAny("path"), in.readInt("mode"));
        }
    }

    /**
     * Asks whether a watch is set. Answered by {@link ReplyBody.Empty} or {@link ErrorCode#NO_WATCHER}.
     *
     * @param type a {@link WatcherType}, known or not
     */
    record CheckWatches(String path, int type) implements WatchRequest {
        @Override
        public OpCode opCode() {
            return OpCode.CHECK_WATCHES;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeInt(type);
        }

        static CheckWatches decode(JuteReader in) {
            return new CheckWatches(in.readPathIfAny("path"), in.readInt("type"));
        }
    }

    /**
     * Removes watches. Answered by {@link ReplyBody.Empty} or {@link ErrorCode#NO_WATCHER}.
     *
     * @param type a {@link WatcherType}, known or not
     */
    record RemoveWatches(String path, int type) implements WatchRequest {
        @Override
        public OpCode opCode() {
            return OpCode.REMOVE_WATCHES;
        }

        @Override
        public void encode(JuteWriter out) {
            out.writeString(path);
            out.writeInt(type);
        }

        static RemoveWatches decode(JuteReader in) {
            return new RemoveWatches(in.readPathIfAny("path"), in.readInt("type"));
        }
    }

    /**
     * Sets watches again after a reconnect; those whose change was missed fire at once. Answered by
     * {@link ReplyBody.Empty}.
     *
     * @param opCode {@link OpCode#SET_WATCHES}, which knows no persistent watches, or {@link OpCode#SET_WATCHES2}
     * @param relativeZxid the newest change that the client has seen
     * @param dataWatches the paths of data watches
     * @param existWatches the paths of watches on nodes that did not exist
     * @param childWatches the paths of watches of lists of children
     * @param persistentWatches the paths of persistent watches; on the wire with SET_WATCHES2 only, else empty
     * @param persistentRecursiveWatches the paths of persistent recursive watches; on the wire with SET_WATCHES2 only,
     *     else empty
     */
    record SetWatches(
            OpCode opCode,
            long relativeZxid,
            List<String> dataWatches,
            List<String> existWatches,
            List<String> childWatches,
            List<String> persistentWatches,
            List<String> persistentRecursiveWatches)
            implements WatchRequest {
        /** Checks that the operation is one of the two and that only the second has persistent watches. */
        public SetWatches {
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
    }
}
