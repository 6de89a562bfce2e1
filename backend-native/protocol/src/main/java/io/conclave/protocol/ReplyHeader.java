package io.conclave.protocol;

/**
 * The start of every message of a server but the first.
 *
 * @param xid the number of the request, or one of {@link Xid}
 * @param zxid the last change that the server had processed; of an event, the change itself
 * @param err the error, known or not; 0 is none, and with any other no body follows
 */
public record ReplyHeader(int xid, long zxid, int err) implements WireRecord {

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(xid);
        out.writeLong(zxid);
        out.writeInt(err);
    }

    /** Reads a header. */
    public static ReplyHeader decode(JuteReader in) {
        return new ReplyHeader(in.readInt("xid"), in.readLong("zxid"), in.readInt("err"));
    }
}
