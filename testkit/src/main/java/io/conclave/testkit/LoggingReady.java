package io.conclave.testkit;

import org.junit.jupiter.api.extension.Extension;
import org.slf4j.LoggerFactory;

/**
 * Has slf4j find its backend before the first test. Test classes run at the same time, and a thread that asks for a
 * logger while another one still looks for the backend gets a substitute, which no test can listen to.
 *
 * <p>JUnit finds it as a service where {@code junit.jupiter.extensions.autodetection.enabled} is set.
 */
public final class LoggingReady implements Extension {
    /** Called by JUnit. */
    public LoggingReady() {
        LoggerFactory.getILoggerFactory();
    }
}
