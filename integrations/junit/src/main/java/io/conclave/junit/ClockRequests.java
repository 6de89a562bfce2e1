package io.conclave.junit;

import io.conclave.testkit.ManualTimeSource;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * Finds out whether a scope has a parameter for the manual clock. Then its store has that clock from the start; else a
 * wait with a limit would never end, since no test would move the clock.
 */
final class ClockRequests {
    private ClockRequests() {}

    /** Whether something of the class or test that a context is of asks for the clock. */
    static boolean isAskedIn(ExtensionContext scope) {
        Class<?> testClass = scope.getRequiredTestClass();
        Optional<Method> test = scope.getTestMethod();
        return test.map(method -> asks(method) || lifecycleAsks(testClass)).orElseGet(() -> classAsks(testClass));
    }

    private static boolean lifecycleAsks(Class<?> testClass) {
        for (Class<?> at = testClass; at != null; at = at.getEnclosingClass()) {
            List<Method> lifecycle = new ArrayList<>();
            lifecycle.addAll(annotated(at, BeforeEach.class));
            lifecycle.addAll(annotated(at, AfterEach.class));
            if (lifecycle.stream().anyMatch(ClockRequests::asks) || constructorAsks(at)) {
                return true;
            }
        }
        return false;
    }

    private static List<Method> annotated(Class<?> testClass, Class<? extends Annotation> annotation) {
        return AnnotationSupport.findAnnotatedMethods(testClass, annotation, HierarchyTraversalMode.TOP_DOWN);
    }

    private static boolean constructorAsks(Class<?> testClass) {
        return Arrays.stream(testClass.getDeclaredConstructors()).anyMatch(ClockRequests::asks);
    }

    /** Parts with an annotation of their own are scopes of their own. */
    private static boolean classAsks(Class<?> testClass) {
        return constructorAsks(testClass)
                || !ReflectionSupport.findMethods(
                                testClass,
                                method -> !hasOwnScope(method) && asks(method),
                                HierarchyTraversalMode.TOP_DOWN)
                        .isEmpty()
                || ReflectionSupport.findNestedClasses(testClass, nested -> !hasOwnScope(nested)).stream()
                        .anyMatch(ClockRequests::classAsks);
    }

    private static boolean hasOwnScope(AnnotatedElement element) {
        return AnnotationSupport.isAnnotated(element, ConclaveTest.class);
    }

    private static boolean asks(Executable executable) {
        return Arrays.asList(executable.getParameterTypes()).contains(ManualTimeSource.class);
    }
}
