package io.conclave.consensus.disk;

import java.io.IOException;

/** Another process, or another log in this one, works in the directory. */
public final class DirectoryInUseException extends IOException {
    private static final long serialVersionUID = 1;

    public DirectoryInUseException(String message) {
        super(message);
    }
}
