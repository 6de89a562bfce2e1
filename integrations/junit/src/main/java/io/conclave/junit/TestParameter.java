package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.ensemble.ConclaveEnsemble;
import io.conclave.testkit.ManualTimeSource;
import io.conclave.testkit.memory.Faults;
import io.conclave.testkit.memory.MemoryStore;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Parameter;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/** One parameter that the extension resolves, by its type. */
final class TestParameter {
    private static final Set<Class<?>> TYPES = Set.of(
            Coordinator.class,
            String.class,
            ConclaveFaults.class,
            ConclaveEnsemble.class,
            MemoryStore.class,
            Faults.class,
            ManualTimeSource.class);
    private static final Set<Class<?>> IN_MEMORY_ONLY = Set.of(MemoryStore.class, Faults.class, ManualTimeSource.class);

    /** By name, since JUnit has them from 5.13 on, and in a module of its own. */
    private static final String PARAMETERIZED_CLASS = "org.junit.jupiter.params.ParameterizedClass";

    private static final Set<String> AROUND_A_PARAMETERIZED_CLASS = Set.of(
            "org.junit.jupiter.params.BeforeParameterizedClassInvocation",
            "org.junit.jupiter.params.AfterParameterizedClassInvocation");

    private static final Namespace NAMESPACE = Namespace.create(TestParameter.class);

    private final Parameter parameter;
    private final ExtensionContext context;

    private TestParameter(Parameter parameter, ExtensionContext context) {
        this.parameter = parameter;
        this.context = context;
    }

    /** Whether it is of our types, and not one that another extension fills. */
    static boolean isOurs(ParameterContext parameter) {
        Class<?> type = parameter.getParameter().getType();
        return TYPES.contains(type)
                && parameter.getParameter().getAnnotations().length == 0
                && !(type == String.class && hasArguments(parameter.getDeclaringExecutable()));
    }

    /** Whether what JUnit calls has arguments, which may be strings. */
    private static boolean hasArguments(Executable called) {
        if (called instanceof Constructor<?>) {
            return isAnnotated(called.getDeclaringClass(), PARAMETERIZED_CLASS);
        }
        boolean isTemplate = AnnotationSupport.isAnnotated(called, TestTemplate.class)
                && !AnnotationSupport.isAnnotated(called, RepeatedTest.class);
        return isTemplate || AROUND_A_PARAMETERIZED_CLASS.stream().anyMatch(name -> isAnnotated(called, name));
    }

    private static boolean isAnnotated(AnnotatedElement element, String annotation) {
        return ReflectionSupport.tryToLoadClass(annotation)
                .toOptional()
                .filter(type -> AnnotationSupport.isAnnotated(element, type.asSubclass(Annotation.class)))
                .isPresent();
    }

    /** A parameter of what a context is about to call. */
    static TestParameter of(ParameterContext parameter, ExtensionContext context) {
        return new TestParameter(parameter.getParameter(), context);
    }

    /**
     * What the test is given; starts the environment of its scope if it is the first to ask.
     *
     * @throws ParameterResolutionException if an environment with so many servers does not have it
     */
    Object from(Scope scope) {
        Class<?> type = parameter.getType();
        int servers = scope.settings().servers();
        if (servers == 0 && type == ConclaveEnsemble.class) {
            throw refusal("servers = 0 is a store in memory; set servers to 1 or 3");
        }
        if (servers > 0 && IN_MEMORY_ONLY.contains(type)) {
            throw refusal("servers = " + servers + ", and only a store in memory has one;"
                    + " set servers to 0, or leave the parameter out");
        }
        return from(scope.environment(), type);
    }

    private Object from(Environment environment, Class<?> type) {
        if (type == Coordinator.class) {
            return coordinator(environment);
        } else if (type == String.class) {
            return environment.connectString();
        } else if (type == ConclaveFaults.class) {
            return environment.faults();
        } else if (type == ConclaveEnsemble.class) {
            return environment.ensemble().orElseThrow();
        } else if (type == ManualTimeSource.class) {
            return environment
                    .clock()
                    .orElseThrow(() -> refusal("no method of a test was seen to ask for it before;"
                            + " register a ConclaveExtension.builder().manualClock()"));
        }
        MemoryStore store = environment.store().orElseThrow();
        return type == Faults.class ? store.faults() : store;
    }

    private Coordinator coordinator(Environment environment) {
        Coordinator coordinator = environment.connect();
        GivenCoordinator given = new GivenCoordinator(coordinator, environment);
        context.getStore(NAMESPACE).put(given, given);
        return coordinator;
    }

    private ParameterResolutionException refusal(String reason) {
        Executable executable = parameter.getDeclaringExecutable();
        return new ParameterResolutionException(
                "Cannot give " + executable.getDeclaringClass().getSimpleName() + "." + executable.getName() + " a "
                        + parameter.getType().getSimpleName() + ": " + reason);
    }
}
