package io.conclave.spring.boot;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;

/**
 * What a {@link DistributedLocked} annotation says, read once.
 *
 * @param waitTime zero waits for no other holder
 */
record LockedCall(PathTemplate path, Duration waitTime, NotAcquired ifNotAcquired) {
    /**
     * Reads the annotation of a method.
     *
     * @param placeholders puts properties in place of their names
     * @throws IllegalArgumentException if it breaks a rule
     */
    static LockedCall of(DistributedLocked annotation, Method method, UnaryOperator<String> placeholders) {
        Duration waitTime = waitTime(placeholders.apply(annotation.waitTime()));
        if (annotation.ifNotAcquired() == NotAcquired.SKIP) {
            checkSkippable(method, "the lock is not acquired");
        }
        return new LockedCall(
                PathTemplate.parse(placeholders.apply(annotation.value())), waitTime, annotation.ifNotAcquired());
    }

    private static Duration waitTime(String text) {
        Duration time;
        try {
            time = DurationStyle.detectAndParse(text);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    "Invalid wait time \"" + text + "\": it must be a duration such as 5s or PT5S", e);
        }
        if (time.isNegative()) {
            throw new IllegalArgumentException("Invalid wait time \"" + text + "\": it must not be negative");
        }
        return time;
    }

    /**
     * Checks that there is something to return when a method is not run.
     *
     * @throws IllegalArgumentException if there is not
     */
    static void checkSkippable(Method method, String when) {
        Class<?> returned = method.getReturnType();
        if (returned.isPrimitive() && returned != void.class) {
            throw new IllegalArgumentException("it returns the primitive type " + returned
                    + ", and there is no value if " + when + ": return an object, which is null then, or an Optional");
        }
    }

    /** What a caller gets of a method that was not run. */
    static @Nullable Object skipped(Method method) {
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
    }
}
