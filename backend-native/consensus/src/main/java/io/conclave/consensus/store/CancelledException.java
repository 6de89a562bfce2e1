package io.conclave.consensus.store;

import java.io.IOException;

/** Work in the background was given up because nobody wants its outcome any more. */
public final class CancelledException extends IOException {
    private static final long serialVersionUID = 1;
}
