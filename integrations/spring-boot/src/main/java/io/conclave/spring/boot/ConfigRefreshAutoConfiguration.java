package io.conclave.spring.boot;

import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.cloud.context.refresh.ContextRefresher;
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
    ConfigRefresh conclaveConfigRefresh(
            ConfigurableEnvironment environment,
            ApplicationEventPublisher events,
            ObjectProvider<ConfigRefresh.Rebinding> rebinding) {
        return new ConfigRefresh(environment, events, rebinding.getIfAvailable(NoRebinding::new));
    }

    /** Without Spring Cloud beans keep what they have. */
    private record NoRebinding(Object turn) implements ConfigRefresh.Rebinding {
        NoRebinding() {
            this(new Object());
        }

        @Override
        public void rebind(Set<String> keys) {}
    }

    /** With Spring Cloud, beans are bound again, and those of its refresh scope are made anew. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(EnvironmentChangeEvent.class)
    static final class WithSpringCloud {
        @Bean
        CloudRebinding conclaveCloudRebinding(
                ApplicationContext context,
                ObjectProvider<ContextRefresher> refresher,
                ObjectProvider<RefreshScope> scopes) {
            Object turn = refresher.getIfUnique();
            return new CloudRebinding(turn == null ? new Object() : turn, context, scopes);
        }

        @Bean
        AfterCloudRefresh conclaveAfterCloudRefresh(ConfigRefresh refresh) {
            return new AfterCloudRefresh(refresh);
        }
    }

    /**
     * Spring Cloud's own.
     *
     * @param turn its refresher, whose methods are synchronized. It reads, replaces and binds without a look at what
     *     changes meanwhile: two at a time would leave a bean with the value that the slower one has read
     */
    record CloudRebinding(Object turn, ApplicationContext context, ObjectProvider<RefreshScope> scopes)
            implements ConfigRefresh.Rebinding {
        @Override
        public void rebind(Set<String> keys) {
            context.publishEvent(new EnvironmentChangeEvent(context, keys));
            scopes.ifAvailable(RefreshScope::refreshAll);
        }
    }

    /**
     * Spring Cloud's refresh puts sources that it has read itself in the place of the followed ones. It tells so before
     * beans are bound again, and this comes first. Also called for the events of {@link CloudRebinding}: then nothing
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
