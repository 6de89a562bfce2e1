package io.conclave.protocol;

/** The permissions of an {@link AclRecord}, one bit each. */
public final class Perms {
    /** Read data and the list of children. */
    public static final int READ = 1;

    /** Set data. */
    public static final int WRITE = 1 << 1;

    /** Create children. */
    public static final int CREATE = 1 << 2;

    /** Delete children. */
    public static final int DELETE = 1 << 3;

    /** Set the ACL. */
    public static final int ADMIN = 1 << 4;

    /** Everything. */
    public static final int ALL = READ | WRITE | CREATE | DELETE | ADMIN;

    private Perms() {}
}
