package io.conclave.testkit;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.Extension;

/**
 * Makes every {@code await()} look often and wait long: what must come may take a minute on a busy machine, and a test
 * that passes waits no longer than it must. And none fails by what a thread of another test throws: test classes run
 * concurrently, and Awaitility would listen to all threads.
 *
 * <p>JUnit finds it as a service where {@code junit.jupiter.extensions.autodetection.enabled} is set.
 */
public final class PatientAwaits implements Extension {
    private static final Duration POLL = Duration.ofMillis(10);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Called by JUnit. */
    public PatientAwaits() {
        Awaitility.setDefaultPollDelay(Duration.ofMillis(1));
        Awaitility.setDefaultPollInterval(POLL);
        Awaitility.setDefaultTimeout(PATIENCE);
        Awaitility.doNotCatchUncaughtExceptionsByDefault();
    }
}
