package io.conclave.recipe;

import io.conclave.metrics.MetricsHook;
import io.conclave.node.Acl;
import io.conclave.node.NodePath;
import io.conclave.spi.Capability;
import io.conclave.time.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What all sessions of one coordinator have in common.
 *
 * @param namespaceExists whether a server has said that the namespace is there
 * @param kept what recipes keep as long as the coordinator lives; thread-safe
 */
public record RecipeContext(
        NodePath base,
        TimeSource time,
        Executor listenerExecutor,
        MetricsHook metrics,
        Acl defaultAcl,
        long configuredGeneration,
        Duration sessionTimeout,
        Duration tryTimeout,
        Set<Capability> capabilities,
        boolean linearizableReads,
        int maxQueuedRequests,
        AtomicBoolean namespaceExists,
        Map<Class<?>, Object> kept) {}
