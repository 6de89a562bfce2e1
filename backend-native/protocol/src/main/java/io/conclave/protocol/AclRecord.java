package io.conclave.protocol;

import java.util.List;

/**
 * One entry of an ACL.
 *
 * @param perms the bits of {@link Perms} granted
 * @param scheme how the identity was proved: world, auth, digest, ip...
 * @param id the identity, in the form of the scheme
 */
public record AclRecord(int perms, String scheme, String id) implements WireRecord {
    private static final int MIN_BYTES = 3 * Integer.BYTES;

    /** All permissions for any client. */
    public static final List<AclRecord> OPEN = List.of(new AclRecord(Perms.ALL, "world", "anyone"));

    @Override
    public void encode(JuteWriter out) {
        out.writeInt(perms);
        out.writeString(scheme);
        out.writeString(id);
    }

    /** Reads an entry. */
    public static AclRecord decode(JuteReader in) {
        return new AclRecord(in.readInt("perms"), in.readString("scheme"), in.readString("id"));
    }

    /** Reads an ACL. */
    public static List<AclRecord> decodeList(JuteReader in) {
        return in.readVector("acl", MIN_BYTES, AclRecord::decode);
    }
}
