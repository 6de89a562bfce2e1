package io.conclave.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do when the application does not start because it cannot import its configuration. */
final class ConfigImportFailureAnalyzer extends AbstractFailureAnalyzer<ConfigImportException> {
    ConfigImportFailureAnalyzer() {}

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ConfigImportException cause) {
        return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
    }
}
