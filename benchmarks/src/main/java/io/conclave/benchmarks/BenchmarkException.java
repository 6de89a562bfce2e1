package io.conclave.benchmarks;

/** A run that cannot go on: a server did not start, or a request failed. */
final class BenchmarkException extends RuntimeException {
    BenchmarkException(String message) {
        super(message);
    }

    BenchmarkException(String message, Throwable cause) {
        super(message, cause);
    }
}
