package io.conclave.consensus.peer;

/** Bytes on a link that are none of this protocol; the link is closed. */
final class MalformedMessageException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MalformedMessageException(String message) {
        super(message);
    }
}
