package io.conclave.spi;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.session.Authentication;
import io.conclave.session.TlsOptions;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * What the coordinator gives to a backend.
 *
 * @param sessionTimeout the timeout asked for; the server may clamp it
 * @param time the clocks and timers
 * @param callbackExecutor runs the sessions' dispatchers where the backend has no thread for them; many threads
 * @param authentications sent on every connection, in order
 * @param defaultAcl for creates that name none
 * @param maxQueuedRequests the bound of requests submitted and not yet completed, per session; beyond it they are
 *     refused with LIMIT_EXCEEDED, except the removals of watches: those that nobody wants any more must not stay
 * @param metrics the hook to feed
 * @param followsEnsemble whether servers that the ensemble names may be connected to, beside those of the connect
 *     string
 * @param tls how connections over a network use TLS; empty: they do not
 */
public record BackendOptions(
        Duration sessionTimeout,
        TimeSource time,
        Executor callbackExecutor,
        List<Authentication> authentications,
        Acl defaultAcl,
        int maxQueuedRequests,
        MetricsHook metrics,
        boolean followsEnsemble,
        Optional<TlsOptions> tls) {
    /** Copies the authentications. */
    public BackendOptions {
        authentications = List.copyOf(authentications);
    }
}
