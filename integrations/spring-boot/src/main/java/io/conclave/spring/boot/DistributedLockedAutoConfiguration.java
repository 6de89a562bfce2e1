package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Locks for {@link DistributedLocked} methods. Also there without a coordinator: then the start of an application with
 * such a method fails, rather than run it without its lock.
 */
@AutoConfiguration(after = ConclaveAutoConfiguration.class)
@ConditionalOnClass(DistributedLock.class)
public final class DistributedLockedAutoConfiguration {
    DistributedLockedAutoConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static GrantedMethodPostProcessor conclaveDistributedLockedPostProcessor(
            ObjectProvider<Coordinator> coordinator, Environment environment) {
        LockInterceptor interceptor =
                new LockInterceptor(coordinator::getObject, environment::resolveRequiredPlaceholders);
        return GrantedMethodPostProcessor.of(
                DistributedLocked.class, interceptor, interceptor::read, coordinator::getObject, environment);
    }
}
