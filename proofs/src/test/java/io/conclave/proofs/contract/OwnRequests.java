package io.conclave.proofs.contract;

import io.conclave.error.OutcomeUnknownException;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.platform.engine.TestExecutionResult;
import org.opentest4j.TestAbortedException;

/**
 * Gives up a test whose own request, not a recipe's, was in flight to a server that was killed: its outcome is unknown,
 * and the contract's author did not mean to test that. A recipe has to find out for itself what became of its requests,
 * so what comes out of a recipe is a failure.
 */
final class OwnRequests implements TestExecutionExceptionHandler {
    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        if (failure instanceof OutcomeUnknownException && isOfTheTestItself(failure)) {
            throw new TestAbortedException("a request of the test's own: " + failure.getMessage(), failure);
        }
        throw failure;
    }

    /** Whether that is what became of a test. */
    static boolean hasGivenUp(TestExecutionResult result) {
        return result.getStatus() == TestExecutionResult.Status.ABORTED
                && result.getThrowable()
                        .filter(reason -> reason.getCause() instanceof OutcomeUnknownException)
                        .isPresent();
    }

    /** Whether the first of our frames above the coordinator is the contract's. */
    private static boolean isOfTheTestItself(Throwable failure) {
        Optional<String> caller = Arrays.stream(failure.getStackTrace())
                .map(StackTraceElement::getClassName)
                .filter(name -> name.startsWith("io.conclave."))
                .filter(name -> !name.startsWith("io.conclave.coordinator.") && !name.startsWith("io.conclave.client."))
                .findFirst();
        return caller.filter(name -> name.matches(".*(Contract|Fixture)(\\$\\w+)?"))
                .isPresent();
    }
}
