package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Locks for {@link DistributedLocked} methods. Also there without a coordinator, or without the recipe: then the start
 * of an application with such a method fails, rather than run it without its lock.
 */
@AutoConfiguration(after = ConclaveAutoConfiguration.class)
public final class DistributedLockedAutoConfiguration {
    DistributedLockedAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(DistributedLock.class)
    static final class WithRecipe {
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

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.conclave.locks.DistributedLock")
    static final class WithoutRecipe {
        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static GrantedMethodPostProcessor conclaveDistributedLockedPostProcessor(Environment environment) {
            return GrantedMethodPostProcessor.refusing(
                    DistributedLocked.class,
                    "add conclave-recipes-locks (on the module path: requires io.conclave.locks)",
                    environment);
        }
    }
}
