package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.AcquireTimeoutException;
import io.conclave.grant.FencedGrant;
import io.conclave.line.WhileHeld;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import io.conclave.node.NodePath;
import io.conclave.session.SessionState;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
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

/**
 * Runs {@link DistributedLocked} methods: acquires first, then runs. So what the method throws is never taken for a
 * failed acquire.
 */
final class LockInterceptor implements MethodInterceptor {
    private static final Logger LOG = LoggerFactory.getLogger(LockInterceptor.class);

    private final Supplier<Coordinator> coordinator;
    private final UnaryOperator<String> placeholders;
    private final Map<Method, LockedCall> calls = new ConcurrentHashMap<>();

    LockInterceptor(Supplier<Coordinator> coordinator, UnaryOperator<String> placeholders) {
        this.coordinator = coordinator;
        this.placeholders = placeholders;
    }

    /** Reads a method's annotation, so that the start fails if it breaks a rule. */
    LockedCall read(Method method) {
        return calls.computeIfAbsent(method, key -> {
            GrantedMethod.checkEndsByReturn(key);
            DistributedLocked annotation =
                    Objects.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(key, DistributedLocked.class));
            return LockedCall.of(annotation, key, placeholders);
        });
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = GrantedMethod.of(invocation);
        LockedCall call = read(method);
        NodePath path = call.path().evaluate(target, method, invocation.getArguments());
        Coordinator used = coordinator.get();
        Optional<FencedGrant> own = CurrentGrant.find(used, path);
        if (own.isPresent()) {
            own.get().ensureHeld();
            CurrentGrant.enter(new CurrentGrant.Entry(used, path, own.get())); // it may not be the innermost one
            try {
                return invocation.proceed();
            } finally {
                CurrentGrant.leave();
            }
        }
        Optional<LockGrant> grant = acquire(used, path, call, method);
        return grant.isPresent() ? run(invocation, used, path, grant.get()) : LockedCall.skipped(method);
    }

    private static Optional<LockGrant> acquire(Coordinator used, NodePath path, LockedCall call, Method method)
            throws InterruptedException {
        DistributedLock lock = DistributedLock.at(used, path);
        try {
            if (call.waitTime().isZero()) {
                Optional<LockGrant> free = lock.tryAcquire();
                return free.isEmpty() && call.ifNotAcquired() == NotAcquired.THROW ? notFree(lock, call) : free;
            }
            return Optional.of(lock.acquire(call.waitTime()));
        } catch (AcquireTimeoutException e) {
            if (call.ifNotAcquired() == NotAcquired.THROW || used.state() != SessionState.CONNECTED) {
                throw e; // without a connection nobody knows whether another one holds it
            }
            LOG.debug("{} is skipped: {}", method, e.getMessage());
            return Optional.empty();
        } catch (InterruptedException e) {
            if (declaresInterrupt(method)) {
                throw e;
            }
            Thread.currentThread().interrupt();
            throw new IllegalStateException(
                    "Interrupted while waiting for the lock " + path + "; not run: " + method, e);
        }
    }

    private static Optional<LockGrant> notFree(DistributedLock lock, LockedCall call) {
        throw new AcquireTimeoutException(
                lock.path().toString(),
                call.waitTime(),
                Optional.empty(),
                "Cannot acquire " + lock.path() + " without waiting: it is held, or others wait for it");
    }

    private static boolean declaresInterrupt(Method method) {
        return Arrays.stream(method.getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
    }

    private static @Nullable Object run(MethodInvocation invocation, Coordinator used, NodePath path, LockGrant grant)
            throws Exception {
        return WhileHeld.<LockGrant, @Nullable Object, Exception>call(grant, held -> {
            CurrentGrant.enter(new CurrentGrant.Entry(used, path, held));
            try {
                return invocation.proceed();
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new UndeclaredThrowableException(e);
            } finally {
                CurrentGrant.leave();
            }
        });
    }
}
