package io.conclave.spring.boot;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.scope.refresh.RefreshScope;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.ConfigurableEnvironment;

/** Changes of what {@code spring.config.import=conclave:} has brought reach the running application. */
@AutoConfiguration
@ConditionalOnProperty(value = "conclave.config.refresh", matchIfMissing = true)
public final class ConfigRefreshAutoConfiguration {
    ConfigRefreshAutoConfiguration() {}

    @Bean
    ConfigRefresh conclaveConfigRefresh(ConfigurableEnvironment environment, ApplicationEventPublisher events) {
        return new ConfigRefresh(environment, events);
    }

    /** With Spring Cloud, beans are bound again, and those of its refresh scope are made anew. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(EnvironmentChangeEvent.class)
    static final class WithSpringCloud {
        @Bean
        CloudRefresh conclaveCloudRefresh(ApplicationContext context, ObjectProvider<RefreshScope> scopes) {
            return new CloudRefresh(context, scopes);
        }

        @Bean
        AfterCloudRefresh conclaveAfterCloudRefresh(ConfigRefresh refresh) {
            return new AfterCloudRefresh(refresh);
        }
    }

    /** Comes before the application's own listeners, which find the new values bound. */
    record CloudRefresh(ApplicationContext context, ObjectProvider<RefreshScope> scopes)
            implements ApplicationListener<ConfigChangedEvent>, Ordered {
        @Override
        public void onApplicationEvent(ConfigChangedEvent event) {
            context.publishEvent(new EnvironmentChangeEvent(context, event.getKeys()));
            scopes.ifAvailable(RefreshScope::refreshAll);
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }

    /**
     * Spring Cloud's refresh puts sources that it has read itself in the place of the followed ones. It tells so before
     * beans are bound again, and this comes first. Also called for the events of {@link CloudRefresh}: then nothing
     * differs.
     */
    record AfterCloudRefresh(ConfigRefresh refresh) implements ApplicationListener<EnvironmentChangeEvent>, Ordered {
        @Override
        public void onApplicationEvent(EnvironmentChangeEvent event) {
            refresh.update();
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }
}
