package io.conclave.proofs.architecture.planted;

/**
 * A record that is not equal to another one of the same bytes.
 *
 * @param bytes an array
 */
@SuppressWarnings("ArrayRecordComponent")
public record ArrayRecord(byte[] bytes) {}
