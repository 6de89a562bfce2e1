package io.conclave.spring.boot;

import io.conclave.error.ConnectException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do when the application does not start because the coordinator cannot. */
final class ConnectFailureAnalyzer extends AbstractFailureAnalyzer<ConnectException> {
    ConnectFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ConnectException cause) {
        return new FailureAnalysis(
                "The coordinator could not start: " + cause.getMessage(),
                "Check conclave.connect-string and the servers. If the application is to start while the servers are"
                        + " down, do not set conclave.connect-timeout.",
                cause);
    }
}
