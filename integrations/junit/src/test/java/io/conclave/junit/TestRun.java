package io.conclave.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.util.Arrays;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in a JVM of their own, for {@link OtherJunitIT}; exits with 1 if one fails or none runs. */
final class TestRun {
    private TestRun() {}

    /** Takes names of classes. */
    public static void main(String[] classes) throws ClassNotFoundException {
        LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request()
                .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true");
        for (String name : Arrays.asList(classes)) {
            request.selectors(selectClass(Class.forName(name)));
        }
        LauncherDiscoveryRequest all = request.build();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(all, listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.printFailuresTo(new PrintWriter(System.out, true), 20);
        System.out.println("JUnit " + new JupiterTestEngine().getVersion().orElse("?") + ": "
                + summary.getTestsSucceededCount() + " passed, " + summary.getTotalFailureCount() + " failed");
        System.exit(summary.getTestsSucceededCount() > 0 && summary.getTotalFailureCount() == 0 ? 0 : 1);
    }
}
