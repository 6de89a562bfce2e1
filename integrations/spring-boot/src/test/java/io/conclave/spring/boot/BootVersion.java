package io.conclave.spring.boot;

import java.util.Arrays;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.util.ClassUtils;

/** What tests need of Boot and is in other packages in Boot 3 than in Boot 4. */
final class BootVersion {
    private BootVersion() {}

    /** Those of the named auto-configurations that this version has. */
    static AutoConfigurations autoConfigurations(String... names) {
        return AutoConfigurations.of(Arrays.stream(names)
                .filter(name -> ClassUtils.isPresent(name, null))
                .map(name -> ClassUtils.resolveClassName(name, null))
                .toArray(Class<?>[]::new));
    }

    /** The status and the details that an indicator tells now. */
    static Health healthOf(Object indicator) {
        Object health = call(indicator, indicator.getClass().getSuperclass(), "health");
        Object status = call(health, health.getClass(), "getStatus");
        return new Health((String) call(status, status.getClass(), "getCode"), (Map<?, ?>)
                call(health, health.getClass(), "getDetails"));
    }

    private static Object call(Object target, Class<?> type, String method) {
        try {
            return type.getMethod(method).invoke(target);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    record Health(String status, Map<?, ?> details) {}
}
