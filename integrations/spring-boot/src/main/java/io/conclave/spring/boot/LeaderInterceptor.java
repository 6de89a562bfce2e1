package io.conclave.spring.boot;

import io.conclave.error.GrantLostException;
import io.conclave.node.NodePath;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/** Runs {@link LeaderOnly} methods where this application leads, and skips them elsewhere. */
final class LeaderInterceptor implements MethodInterceptor {
    private static final Logger LOG = LoggerFactory.getLogger(LeaderInterceptor.class);

    private final Supplier<LeaderElections> elections;
    private final UnaryOperator<String> placeholders;
    private final Map<Method, NodePath> paths = new ConcurrentHashMap<>();

    LeaderInterceptor(Supplier<LeaderElections> elections, UnaryOperator<String> placeholders) {
        this.elections = elections;
        this.placeholders = placeholders;
    }

    /**
     * Reads a method's annotation.
     *
     * @throws IllegalArgumentException if it breaks a rule
     */
    NodePath read(Method method) {
        return paths.computeIfAbsent(method, key -> {
            GrantedMethod.checkEndsByReturn(key);
            LockedCall.checkSkippable(key, "this process does not lead");
            LeaderOnly annotation =
                    Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(key, LeaderOnly.class));
            return NodePath.of(placeholders.apply(annotation.value()));
        });
    }

    /** The elections of all methods that have been read. */
    Collection<NodePath> paths() {
        return paths.values();
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Method method = GrantedMethod.of(invocation);
        LedElection election = elections.get().join(read(method));
        Optional<LedElection.Running> running = election.begin();
        if (running.isEmpty()) {
            LOG.trace("{} is skipped: this process does not lead {}", method, election.path());
            return LockedCall.skipped(method);
        }
        return run(invocation, election, running.get());
    }

    private static @Nullable Object run(MethodInvocation invocation, LedElection election, LedElection.Running running)
            throws Throwable {
        CurrentGrant.enter(new CurrentGrant.Entry(election, election.path(), running.leadership()));
        Object result;
        try {
            result = invocation.proceed();
        } catch (Throwable failure) {
            Throwable told = told(running, failure); // before the end: then the leadership may be given up
            end(running, failure, told);
            throw told;
        }
        try {
            running.ensureNotLost();
        } finally {
            end(running, null, null);
        }
        return result;
    }

    private static void end(LedElection.Running running, @Nullable Throwable failure, @Nullable Throwable thrown) {
        CurrentGrant.leave();
        running.end(failure, thrown);
    }

    /** What the caller is told of a failed run: a loss first. */
    private static Throwable told(LedElection.Running running, Throwable failure) {
        try {
            running.ensureNotLost();
            return failure;
        } catch (GrantLostException loss) {
            boolean comesFirst = failure instanceof Error || failure instanceof GrantLostException;
            (comesFirst ? failure : loss).addSuppressed(comesFirst ? loss : failure);
            return comesFirst ? failure : loss;
        }
    }
}
