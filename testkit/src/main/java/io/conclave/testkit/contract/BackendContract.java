package io.conclave.testkit.contract;

import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What every backend promises, as tests; the promises are those of {@link io.conclave.spi.BackendSession} and of each
 * {@link io.conclave.request.Request}.
 *
 * <p>A backend's module extends this class and says how a backend is opened on the store under test; a store may be
 * shared by all tests, which keep to paths of their own. Tests of a capability that the backend does not claim are
 * skipped. A test that needs an expired session gives the client a clock that stands still, so that it sends no
 * heartbeats; the server's clock must run.
 *
 * <p>What a broken connection does needs a way to break it, which differs by backend: it is tested where the backend
 * lives.
 */
@Execution(ExecutionMode.CONCURRENT)
public abstract class BackendContract extends TtlPromises {
    /** For subclasses. */
    protected BackendContract() {}
}
