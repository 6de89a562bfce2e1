package io.conclave.spring.boot;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.ReactiveAdapterRegistry;

/** A method that runs under a grant: the one that has the annotation, and whether its return is its end. */
final class GrantedMethod {
    private static final List<Class<?>> GOES_ON = List.of(Future.class, CompletionStage.class, Flow.Publisher.class);

    /** Kotlin's, which need not be on the class path: Deferred is a Job. */
    private static final Set<String> GOES_ON_IN_KOTLIN =
            Set.of("kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow");

    private GrantedMethod() {}

    /** The method that a call is for: that of the target's class, or of the interface that a proxy stands for. */
    static Method of(MethodInvocation invocation) {
        Object target = invocation.getThis();
        return target == null || Proxy.isProxyClass(target.getClass())
                ? invocation.getMethod()
                : AopUtils.getMostSpecificMethod(invocation.getMethod(), target.getClass());
    }

    /**
     * Checks that a method has ended when it returns.
     *
     * @throws IllegalArgumentException if its work may go on
     */
    static void checkEndsByReturn(Method method) {
        Class<?> returned = method.getReturnType();
        Class<?>[] parameters = method.getParameterTypes();
        boolean suspends = parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
        if (suspends || goesOn(returned)) {
            throw new IllegalArgumentException(
                    "the method returns " + (suspends ? "before it ends" : returned.getName())
                            + ", so its work would go on after the grant was given back: return the result itself");
        }
    }

    private static boolean goesOn(Class<?> returned) {
        return GOES_ON.stream().anyMatch(type -> type.isAssignableFrom(returned))
                || goesOnInKotlin(returned)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(returned) != null;
    }

    private static boolean goesOnInKotlin(Class<?> returned) {
        Class<?> parent = returned.getSuperclass();
        return GOES_ON_IN_KOTLIN.contains(returned.getName())
                || Arrays.stream(returned.getInterfaces()).anyMatch(GrantedMethod::goesOnInKotlin)
                || (parent != null && goesOnInKotlin(parent));
    }
}
