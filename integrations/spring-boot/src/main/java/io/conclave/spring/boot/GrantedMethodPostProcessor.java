package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.Environment;

/**
 * Puts an interceptor around methods with an annotation, and refuses those that it cannot stand around.
 *
 * <p>The interceptor comes before all that is there, transactions among them: the grant is there before a transaction
 * begins and until it has ended. It is applied one before the last processor, which is that of {@code @Async}: there
 * the other thread has the grant, not the one that only hands the call over.
 *
 * <p>What the methods need is asked for once all beans are there, so that the start fails, and not the first call.
 */
final class GrantedMethodPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
        implements SmartInitializingSingleton {
    private static final long serialVersionUID = 1L;

    private final transient Class<? extends Annotation> annotation;
    private final transient Consumer<Method> reader;
    private final transient Runnable need;
    private final transient Set<List<Class<?>>> checked = ConcurrentHashMap.newKeySet();
    private transient volatile @Nullable Method example;
    private transient volatile boolean allThere;
    private transient @Nullable ListableBeanFactory beans;

    /**
     * With class proxies, unless the application has them switched off, as for all of Spring Boot's advice.
     *
     * @param need what a call asks for; throws if the application does not have it
     */
    static GrantedMethodPostProcessor of(
            Class<? extends Annotation> annotation,
            MethodInterceptor interceptor,
            Consumer<Method> reader,
            Runnable need,
            Environment environment) {
        GrantedMethodPostProcessor processor = new GrantedMethodPostProcessor(annotation, interceptor, reader, need);
        processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        return processor;
    }

    /**
     * Refuses all methods with the annotation.
     *
     * @param remedy what the application lacks
     */
    static GrantedMethodPostProcessor refusing(
            Class<? extends Annotation> annotation, String remedy, Environment environment) {
        Consumer<Method> refusal = method -> {
            throw new IllegalArgumentException("its recipe is not there: " + remedy);
        };
        return of(
                annotation,
                call -> {
                    throw new IllegalStateException(remedy);
                },
                refusal,
                () -> {},
                environment);
    }

    /** @param reader reads a method's annotation; throws IllegalArgumentException if that breaks a rule */
    private GrantedMethodPostProcessor(
            Class<? extends Annotation> annotation,
            MethodInterceptor interceptor,
            Consumer<Method> reader,
            Runnable need) {
        this.annotation = annotation;
        this.reader = reader;
        this.need = need;
        this.advisor = new DefaultPointcutAdvisor(new AnnotationMatchingPointcut(null, annotation, true), interceptor);
        setBeforeExistingAdvisors(true);
        setOrder(Ordered.LOWEST_PRECEDENCE - 1);
    }

    @Override
    public void setBeanFactory(BeanFactory factory) {
        super.setBeanFactory(factory);
        beans = factory instanceof ListableBeanFactory listable ? listable : null;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        Class<?> type = AopUtils.getTargetClass(bean);
        if (checked.add(List.of(type, bean.getClass()))) {
            annotated(type).forEach(this::check);
            // A proxy may answer for an interface that its target does not have, as a repository of Spring Data does
            annotated(bean.getClass()).stream()
                    .filter(method -> !method.getDeclaringClass().isAssignableFrom(type))
                    .forEach(this::check);
        }
        if (isEligible(type) || isEligible(bean, name)) {
            needsCoordinator(name);
        }
        return super.postProcessAfterInitialization(bean, name);
    }

    /** So the coordinator is closed after the bean and all that uses it: their last work may need the grant. */
    private void needsCoordinator(String name) {
        if (beans instanceof ConfigurableBeanFactory factory) {
            coordinators().forEach(coordinator -> factory.registerDependentBean(coordinator, name));
        }
    }

    /** The methods of a class, or of what a proxy stands for, that have the annotation. */
    private Set<Method> annotated(Class<?> type) {
        if (!AnnotationUtils.isCandidateClass(type, annotation)) {
            return Set.of();
        }
        MethodIntrospector.MetadataLookup<Annotation> lookup =
                method -> AnnotatedElementUtils.findMergedAnnotation(method, annotation);
        return MethodIntrospector.selectMethods(type, lookup).keySet();
    }

    private void check(Method method) {
        try {
            checkShape(method);
            reader.accept(method);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(
                    "Invalid @" + annotation.getSimpleName() + " on " + method + ": " + e.getMessage(), e);
        }
        if (beans != null && coordinators().isEmpty()) {
            throw new NoSuchBeanDefinitionException(Coordinator.class, nameOf(method) + " needs it");
        }
        if (allThere) {
            checkNeed(method); // of a bean that is made late
        } else {
            example = method;
        }
    }

    @Override
    public void afterSingletonsInstantiated() {
        allThere = true;
        Method method = example;
        if (method != null) {
            checkNeed(method);
        }
    }

    private void checkNeed(Method method) {
        try {
            need.run();
        } catch (NoSuchBeanDefinitionException e) {
            List<String> found = coordinators();
            if (found.size() < 2) {
                throw e;
            }
            NoUniqueBeanDefinitionException several = new NoUniqueBeanDefinitionException(
                    Coordinator.class,
                    found.size(),
                    nameOf(method) + " needs one coordinator, and there are several: " + String.join(", ", found)
                            + ". Mark one of them as @Primary");
            several.initCause(e);
            throw several;
        }
    }

    private List<String> coordinators() {
        return beans == null
                ? List.of()
                : List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, Coordinator.class, true, false));
    }

    private String nameOf(Method method) {
        return "@" + annotation.getSimpleName() + " on " + method;
    }

    private static void checkShape(Method method) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)) {
            throw new IllegalArgumentException(
                    "the method must not be private, static or final, since Spring cannot stand around such a one");
        }
    }
}
