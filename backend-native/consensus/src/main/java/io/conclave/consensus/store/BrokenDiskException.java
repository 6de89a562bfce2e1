package io.conclave.consensus.store;

import java.io.IOException;

/** The disk failed under something that is otherwise allowed to fail; the log must end. */
final class BrokenDiskException extends IOException {
    private static final long serialVersionUID = 1;

    BrokenDiskException(IOException cause) {
        super(cause.toString(), cause);
    }
}
