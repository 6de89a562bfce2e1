package io.conclave.consensus;

import java.io.IOException;

/** Work in the background was given up because the log closes. */
final class CancelledException extends IOException {
    private static final long serialVersionUID = 1;
}
