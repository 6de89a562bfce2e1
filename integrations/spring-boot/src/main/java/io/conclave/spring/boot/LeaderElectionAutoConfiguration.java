package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Elections for {@link LeaderOnly} methods and {@code conclave.elections}, and the events of leaders. Also there
 * without a coordinator, or without the recipe: then the start of an application that has such methods or paths fails.
 */
@AutoConfiguration(after = ConclaveAutoConfiguration.class)
@EnableConfigurationProperties(ConclaveProperties.class) // the other auto-configuration may be excluded
public final class LeaderElectionAutoConfiguration {
    LeaderElectionAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(LeaderElection.class)
    static final class WithRecipe {
        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnSingleCandidate(Coordinator.class)
        LeaderElections conclaveLeaderElections(
                Coordinator coordinator,
                ApplicationEventPublisher events,
                ConclaveProperties properties,
                LeaderInterceptor interceptor) {
            LeaderElections elections = new LeaderElections(coordinator, events, interceptor::paths);
            for (String path : properties.getElections()) {
                CoordinatorSettings.checked("conclave.elections", path, () -> {
                    elections.join(path);
                    return path;
                });
            }
            return elections;
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static LeaderInterceptor conclaveLeaderInterceptor(
                ObjectProvider<LeaderElections> elections, Environment environment) {
            return new LeaderInterceptor(elections::getObject, environment::resolveRequiredPlaceholders);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static GrantedMethodPostProcessor conclaveLeaderOnlyPostProcessor(
                LeaderInterceptor interceptor, ObjectProvider<LeaderElections> elections, Environment environment) {
            return GrantedMethodPostProcessor.of(
                    LeaderOnly.class, interceptor, interceptor::read, elections::getObject, environment);
        }

        /** Elections that are listed are joined, or the start fails. */
        @Bean
        static SmartInitializingSingleton conclaveElectionsCheck(
                ObjectProvider<LeaderElections> elections, ConclaveProperties properties) {
            return () -> {
                if (elections.stream().findAny().isEmpty()) {
                    refuseElections(
                            properties,
                            "a candidate needs one coordinator: set conclave.connect-string or make a bean of"
                                    + " Coordinator, and mark one as @Primary if there are several");
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnMissingClass("io.conclave.election.LeaderElection")
    static final class WithoutRecipe {
        private static final String NEEDED =
                "add conclave-recipes-election (on the module path: requires io.conclave.election)";

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static GrantedMethodPostProcessor conclaveLeaderOnlyPostProcessor(Environment environment) {
            return GrantedMethodPostProcessor.refusing(LeaderOnly.class, NEEDED, environment);
        }

        @Bean
        static SmartInitializingSingleton conclaveElectionsCheck(ConclaveProperties properties) {
            return () -> refuseElections(properties, NEEDED);
        }
    }

    private static void refuseElections(ConclaveProperties properties, String reason) {
        List<String> paths = properties.getElections();
        if (!paths.isEmpty()) {
            throw new InvalidConfigurationPropertyValueException("conclave.elections", paths, reason);
        }
    }
}
