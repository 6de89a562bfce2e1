package io.conclave.proofs.contract;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** What one pass over the contracts found, ran and saw fail. JUnit calls it on the threads that run the classes. */
final class PassResult implements TestExecutionListener {
    private final Map<String, Integer> testsByClass = new ConcurrentSkipListMap<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    private final AtomicLong succeeded = new AtomicLong();
    private final AtomicLong givenUp = new AtomicLong();
    private volatile long found;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        found = plan.countTestIdentifiers(TestIdentifier::isTest);
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        // tells which tests a line in the log may come from
        test.getSource()
                .filter(MethodSource.class::isInstance)
                .map(MethodSource.class::cast)
                .ifPresent(source -> {
                    String name = ContractPattern.classNameOf(source);
                    testsByClass.merge(name, 1, Integer::sum);
                    System.out.println(LocalTime.now() + " " + name + "#" + source.getMethodName());
                });
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        problems.add("SKIPPED " + test.getUniqueId() + ": " + reason);
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (OwnRequests.hasGivenUp(result)) {
            givenUp.incrementAndGet();
        } else if (result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
            StringWriter stack = new StringWriter();
            result.getThrowable().ifPresent(failure -> failure.printStackTrace(new PrintWriter(stack)));
            problems.add(result.getStatus() + " " + test.getUniqueId() + ": " + stack);
        } else if (test.isTest()) {
            succeeded.incrementAndGet();
        }
    }

    /** How many tests were found before the pass. */
    long found() {
        return found;
    }

    /** How many tests were run to a good end. */
    long succeeded() {
        return succeeded.get();
    }

    /** How many tests could not go on because a server had been killed while it had a request of the test's own. */
    long givenUp() {
        return givenUp.get();
    }

    /** How many tests of each class were started. */
    Map<String, Integer> testsByClass() {
        return testsByClass;
    }

    /** Why the pass is not green; nothing if it is. */
    List<String> problems(long expectedTests) {
        List<String> all = new ArrayList<>(problems);
        if (found == 0) {
            all.add("no test matches the pattern");
        }
        if (found != expectedTests) {
            all.add("the first pass found " + expectedTests + " tests, this one " + found);
        }
        if (problems.isEmpty() && succeeded.get() + givenUp.get() != found) {
            all.add(found + " tests were found, but " + succeeded + " run");
        }
        return all;
    }
}
