package io.conclave.backup;

import java.io.IOException;
import java.nio.file.Path;

/** A file is not a whole backup; the message says which file, where and why. */
public final class DamagedBackupException extends IOException {
    private static final long serialVersionUID = 1L;

    DamagedBackupException(Path file, long offset, String problem) {
        super(file + ": offset " + offset + ": " + problem);
    }
}
