package io.conclave.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean while a {@link io.conclave.locks.DistributedLock} is held, on the calling thread.
 *
 * <pre>{@code
 * @DistributedLocked("/locks/orders/#{#order.id}")
 * @Transactional
 * public void settle(Order order) { ... }
 * }</pre>
 *
 * <p>The lock is acquired before a transaction of the same method begins, and released after its end. The call blocks
 * for the wait time at most, then as long as the method runs. {@link CurrentGrant} has the fencing token. A method that
 * is called under the lock of its own thread runs under that same lock.
 *
 * <p>No loss is silent. If the lock is lost, with its session say, the thread is interrupted and the caller gets a
 * {@link io.conclave.error.GrantLostException} when the method has ended, as with {@link
 * io.conclave.grant.Acquirable#whileHeld}. A transaction that has committed by then stays committed.
 *
 * <p>That cannot be chosen, by design: a method that ran to its end without an interrupt would go on without the lock,
 * and a caller that was told of no loss would take its work for guarded. A method that must not be interrupted in the
 * middle can take the interrupt where it is safe to stop.
 *
 * <p>As with all annotations of this kind, the call must come from outside of the bean. The start of the application
 * fails if the method is private, static or final, or returns a future, a reactive type or Kotlin's {@code Flow} or
 * {@code Deferred}: it would go on after the lock was released.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface DistributedLocked {
    /**
     * The path of the lock. What is in <code>#{...}</code> is an expression of Spring's language over the parameters,
     * by their names or as {@code #p0}; its value becomes part of one component of the path, so slashes in it are
     * encoded. What is in <code>${...}</code> is a property.
     */
    String value();

    /**
     * How long to wait for the lock, such as {@code 5s} or {@code PT5S}, or a property; {@code 0s} waits for no other
     * holder.
     */
    String waitTime() default "10s";

    /** What happens if the lock is not acquired in time. */
    NotAcquired ifNotAcquired() default NotAcquired.THROW;
}
