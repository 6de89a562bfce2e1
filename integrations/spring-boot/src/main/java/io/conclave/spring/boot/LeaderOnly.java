package io.conclave.spring.boot;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean only in the process that leads an election, and skips it in all others; for scheduled methods
 * above all.
 *
 * <pre>{@code
 * @Scheduled(fixedRate = 1, timeUnit = TimeUnit.MINUTES)
 * @LeaderOnly("/elections/reports")
 * public void report() { ... }
 * }</pre>
 *
 * <p>The application is a candidate of the election from its start to its stop. A call never waits for leadership: a
 * method that is skipped gives null, or an empty {@link java.util.Optional}. {@link CurrentGrant} has the fencing token
 * of the leadership.
 *
 * <p>If the leadership is lost, with its session say, a method that runs is interrupted, and the caller gets a {@link
 * io.conclave.error.GrantLostException} when it has ended; a scheduler logs it, and goes on. When the application
 * stops, the method is interrupted as well; the leadership is given up when it has ended. A method that closes the
 * application itself is not interrupted by that, and its leadership ends with the coordinator. What it writes elsewhere
 * should carry the token: no election can stop a process that sleeps past the end of its session.
 *
 * <p>The same rules as for {@link DistributedLocked} say which methods can have it.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface LeaderOnly {
    /** The path of the election. What is in <code>${...}</code> is a property. */
    String value();
}
