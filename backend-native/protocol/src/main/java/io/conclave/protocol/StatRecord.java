package io.conclave.protocol;

/**
 * The Stat of a node: everything but its name, data and ACL.
 *
 * @param czxid the change that created the node
 * @param mzxid the change that last set its data
 * @param ctime when it was created, in milliseconds since 1970
 * @param mtime when its data was last set, in milliseconds since 1970
 * @param version how often its data was set
 * @param cversion how often its list of children changed
 * @param aversion how often its ACL was set
 * @param ephemeralOwner the session that owns it, or 0 if it is not ephemeral
 * @param dataLength the bytes of its data; 0 for null, too
 * @param numChildren the number of its children
 * @param pzxid the change that last changed its list of children
 */
public record StatRecord(
        long czxid,
        long mzxid,
        long ctime,
        long mtime,
        int version,
        int cversion,
        int aversion,
        long ephemeralOwner,
        int dataLength,
        int numChildren,
        long pzxid)
        implements WireRecord {
    private static final int WIRE_BYTES = 6 * Long.BYTES + 5 * Integer.BYTES;

    @Override
    public void encode(JuteWriter out) {
        out.reserve(WIRE_BYTES);
        out.writeLong(czxid);
        out.writeLong(mzxid);
        out.writeLong(ctime);
        out.writeLong(mtime);
        out.writeInt(version);
        out.writeInt(cversion);
        out.writeInt(aversion);
        out.writeLong(ephemeralOwner);
        out.writeInt(dataLength);
        out.writeInt(numChildren);
        out.writeLong(pzxid);
    }

    /** Reads a Stat. */
    public static StatRecord decode(JuteReader in) {
        return new StatRecord(
                in.readLong("czxid"),
                in.readLong("mzxid"),
                in.readLong("ctime"),
                in.readLong("mtime"),
                in.readInt("version"),
                in.readInt("cversion"),
                in.readInt("aversion"),
                in.readLong("ephemeralOwner"),
                in.readInt("dataLength"),
                in.readInt("numChildren"),
                in.readLong("pzxid"));
    }
}
