package io.conclave.protocol;

import java.util.Optional;

/**
 * The event of a watch; follows a {@link ReplyHeader} with {@link Xid#WATCH_EVENT}.
 *
 * @param type what happened, known or not
 * @param state the state of the connection, {@link #STATE_CONNECTED}
 * @param path the node
 */
public record WatcherEvent(int type, int state, String path) implements WireRecord {
    /** The only state that a server puts into its events. */
    public static final int STATE_CONNECTED = 3;

    /** What happened; empty if the number is not known. */
    public Optional<EventType> eventType() {
        return EventType.lookup(type);
    }

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(type);
        out.writeInt(state);
        out.writeString(path);
    }

    /** Reads an event. */
    public static WatcherEvent decode(JuteReader in) {
        return new WatcherEvent(in.readInt("type"), in.readInt("state"), in.readString("path"));
    }
}
