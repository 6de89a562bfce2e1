package io.conclave.importing;

import java.io.IOException;
import java.nio.file.Path;

/** A file of ZooKeeper cannot be understood; the message says which, where and why. */
public final class ForeignDataException extends IOException {
    private static final long serialVersionUID = 1L;

    ForeignDataException(Path file, long offset, String problem) {
        super(file + ": offset " + offset + ": " + problem);
    }
}
