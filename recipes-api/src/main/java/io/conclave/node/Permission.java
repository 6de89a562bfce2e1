package io.conclave.node;

/** What an ACL entry allows on one znode; permissions are not inherited. */
public enum Permission {
    /** Read data and list children. */
    READ(1),
    /** Set data. */
    WRITE(2),
    /** Create children. */
    CREATE(4),
    /** Delete children. */
    DELETE(8),
    /** Read whole and set the ACL. */
    ADMIN(16);

    private final int bit;

    Permission(int bit) {
        this.bit = bit;
    }

    /** The permission's bit on the wire. */
    public int bit() {
        return bit;
    }
}
