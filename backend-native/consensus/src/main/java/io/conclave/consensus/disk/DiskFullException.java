package io.conclave.consensus.disk;

import java.io.IOException;

/** There is no room on the disk (or in the quota); nothing is wrong with what was written before. */
public final class DiskFullException extends IOException {
    private static final long serialVersionUID = 1;

    public DiskFullException(String message) {
        super(message);
    }

    public DiskFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
