package io.conclave.consensus.store;

import java.io.IOException;

/** Work in the background was given up because its outcome is not needed any more. */
public final class CancelledException extends IOException {
    private static final long serialVersionUID = 1;
}
