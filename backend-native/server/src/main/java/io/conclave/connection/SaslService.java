package io.conclave.connection;

/** Makes the server's side of SASL exchanges. Thread-safe. */
public interface SaslService {}
