package io.conclave.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Decodes a list of watches of a client that comes again. */
final class SetWatchesDecoder extends RequestDecoder {
    private static final List<String> FIELDS =
            List.of("dataWatches", "existWatches", "childWatches", "persistentWatches", "persistentRecursiveWatches");
    private static final int FIELDS_OF_THE_FIRST_VERSION = 3;

    private final OpCode opCode;
    private final JuteReader in;
    private final long relativeZxid;
    private final int fields;
    private final List<List<String>> paths = new ArrayList<>();
    /** How many there still are in the last of these lists. */
    private int left;

    SetWatchesDecoder(OpCode opCode, JuteReader in) {
        this.opCode = opCode;
        this.in = in;
        this.fields = opCode == OpCode.SET_WATCHES2 ? FIELDS.size() : FIELDS_OF_THE_FIRST_VERSION;
        this.relativeZxid = in.readLong("relativeZxid");
    }

    @Override
    public boolean advance(int parts) {
        for (int more = parts; more > 0; more--) {
            if (left > 0) {
                int field = paths.size() - 1;
                paths.get(field).add(in.readPath(FIELDS.get(field)));
                left--;
            } else if (paths.size() < fields) {
                left = in.readCount(FIELDS.get(paths.size()), Integer.BYTES);
                paths.add(new ArrayList<>(left));
            } else {
                return true;
            }
        }
        return left == 0 && paths.size() == fields;
    }

    @Override
    public WatchRequest.SetWatches request() {
        return new WatchRequest.SetWatches(opCode, relativeZxid, field(0), field(1), field(2), field(3), field(4));
    }

    private List<String> field(int number) {
        return number < fields ? Collections.unmodifiableList(paths.get(number)) : List.of();
    }
}
