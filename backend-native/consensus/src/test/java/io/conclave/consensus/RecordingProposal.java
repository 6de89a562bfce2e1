package io.conclave.consensus;

/** Remembers what became of it. */
final class RecordingProposal implements Proposal {
    final byte[] payload;
    volatile boolean acknowledged;
    volatile Rejection rejection;

    RecordingProposal(byte[] payload) {
        this.payload = payload;
    }

    @Override
    public byte[] payload() {
        return payload;
    }

    @Override
    public void rejected(Rejection reason) {
        rejection = reason;
    }
}
