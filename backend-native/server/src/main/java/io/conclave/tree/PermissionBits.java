package io.conclave.tree;

/** The permission bits of an ACL. */
public final class PermissionBits {
    public static final int READ = 1;
    public static final int WRITE = 2;
    public static final int CREATE = 4;
    public static final int DELETE = 8;
    public static final int ADMIN = 16;
    public static final int ALL = READ | WRITE | CREATE | DELETE | ADMIN;

    private PermissionBits() {}

    /** The letters of the bits, as ZooKeeper writes them: those of {@code cdrwa} that are set. */
    public static String letters(int bits) {
        return ((bits & CREATE) == 0 ? "" : "c")
                + ((bits & DELETE) == 0 ? "" : "d")
                + ((bits & READ) == 0 ? "" : "r")
                + ((bits & WRITE) == 0 ? "" : "w")
                + ((bits & ADMIN) == 0 ? "" : "a");
    }
}
