package io.conclave.node;

/** What has the data of a znode. */
public interface HasData {
    /** The data. */
    Bytes bytes();

    /** The data: a copy with each call. */
    default byte[] data() {
        return bytes().toArray();
    }

    /** The data read as UTF-8. */
    default String text() {
        return bytes().text();
    }
}
