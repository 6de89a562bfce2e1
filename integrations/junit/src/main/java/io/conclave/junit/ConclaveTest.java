package io.conclave.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a test, or all tests of a class, a store to coordinate by. What they need of it they take as parameters of test
 * methods, lifecycle methods and constructors.
 *
 * <ul>
 *   <li>{@link io.conclave.coordinator.Coordinator}: a new one for each parameter, as of a process of its own. It is
 *       closed when what it was given to ends: the test, or the class.
 *   <li>{@link String}: the connect string, for an application that connects by itself.
 *   <li>{@link ConclaveFaults}: what can be done to those coordinators.
 *   <li>{@link io.conclave.ensemble.ConclaveEnsemble}: the servers, to kill, pause and cut off; with servers only.
 *   <li>{@link io.conclave.testkit.memory.MemoryStore} and {@link io.conclave.testkit.memory.Faults}: the store in
 *       memory and its own faults; without servers only.
 *   <li>{@link io.conclave.testkit.ManualTimeSource}: the clock of the store and of those coordinators; without servers
 *       only. They have a manual clock where one of the tests asks for it. Else they have the machine's.
 * </ul>
 *
 * <p>A parameter that has an annotation is left to other extensions, and so is a string of a parameterized test, and of
 * the constructor of a parameterized class.
 *
 * <p>On a class there is one store for all its tests, those of its {@code @Nested} classes included; on a method one
 * for each run of the test. The nearest annotation counts. The store starts when it is first asked for. After each test
 * the faults are undone; what the test has written stays as long as the store does.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@ExtendWith(ConclaveExtension.class)
public @interface ConclaveTest {
    /**
     * How many servers there are, in this JVM: 0 for a store in memory, which starts at once and has a clock to set.
     */
    int servers() default 0;
}
