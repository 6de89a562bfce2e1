package io.conclave.testkit.contract;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.session.Authentication;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.Capability;
import io.conclave.time.TimeSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/** What the parts of the contract share: sessions, and a place in the tree of their own. */
abstract class ContractSupport {
    private final List<Backend> backends = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "contract-callbacks");
        thread.setDaemon(true);
        return thread;
    });
    private NodePath base = NodePath.ROOT;

    /**
     * Opens another backend on the store under test. All that one test opens see the same tree; tests may share a tree
     * too, as each works under a path of its own.
     *
     * @param options the session timeout may be clamped by the server
     */
    protected abstract Backend openBackend(BackendOptions options);

    /** The timeout of sessions that live through a test. */
    protected Duration sessionTimeout() {
        return Duration.ofSeconds(10);
    }

    /**
     * The timeout of sessions that a test lets expire: one that the server does not clamp, and long enough that a busy
     * machine makes a session and a znode in it.
     */
    protected Duration shortSessionTimeout() {
        return Duration.ofSeconds(5);
    }

    @BeforeEach
    void makeAPlaceOfItsOwn() {
        SessionProbe maker = open();
        base = NodePath.ROOT.child("contract-" + UUID.randomUUID());
        maker.ask(Create.of(base).withAcl(Acl.OPEN));
    }

    @AfterEach
    void closeBackends() {
        backends.forEach(Backend::close);
        threads.shutdown();
    }

    /** The path of this name in the test's own place. */
    NodePath path(String name) {
        return base.child(name);
    }

    NodePath base() {
        return base;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    SessionProbe open() {
        return open(options());
    }

    SessionProbe open(BackendOptions options) {
        return SessionProbe.open(backend(options));
    }

    Backend backend(BackendOptions options) {
        Backend backend = openBackend(options);
        backends.add(backend);
        return backend;
    }

    BackendOptions options() {
        return options(sessionTimeout(), TimeSource.system(), List.of(), Acl.OPEN, 10_000);
    }

    BackendOptions optionsWithTime(Duration timeout, TimeSource time) {
        return options(timeout, time, List.of(), Acl.OPEN, 10_000);
    }

    BackendOptions optionsOf(String user, String password) {
        return options(
                sessionTimeout(),
                TimeSource.system(),
                List.of(Authentication.digest(user, password)),
                Acl.OPEN,
                10_000);
    }

    BackendOptions options(
            Duration timeout, TimeSource time, List<Authentication> identities, Acl defaultAcl, int maxQueuedRequests) {
        return new BackendOptions(
                timeout,
                time,
                threads,
                identities,
                defaultAcl,
                maxQueuedRequests,
                MetricsHook.NONE,
                true,
                Optional.empty());
    }

    /** Whether the store has it: as the backend claims, but a server may be older than the backend's claim. */
    protected boolean offers(Capability capability) {
        return backends.get(0).capabilities().contains(capability);
    }

    /** Whether the store looks about every second for what it has to delete, so that a test can wait for it. */
    protected boolean deletesSoon() {
        return true;
    }

    /** Skips the test on a backend that does not claim the capability. */
    void needs(Capability capability) {
        Assumptions.assumeTrue(offers(capability), () -> "the backend has no " + capability);
    }
}
