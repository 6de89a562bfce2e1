package io.conclave.spring.boot;

import io.conclave.testcontainers.ConclaveCluster;
import java.util.Arrays;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Connects tests to a bean of {@link ConclaveCluster} with {@code @ServiceConnection}. Boot looks for that annotation
 * at single containers only.
 */
@AutoConfiguration(
        before = ConclaveAutoConfiguration.class,
        afterName = "org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration")
@ConditionalOnClass({ConclaveCluster.class, ServiceConnection.class})
@Conditional(ClusterConnectionAutoConfiguration.OnCluster.class)
public final class ClusterConnectionAutoConfiguration {
    ClusterConnectionAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean(ConclaveConnectionDetails.class)
    ConclaveConnectionDetails conclaveClusterConnectionDetails(ListableBeanFactory beans) {
        List<String> names = clusters(beans);
        if (names.size() > 1) {
            throw new IllegalStateException("Only one ConclaveCluster can have @ServiceConnection, and these have: "
                    + String.join(", ", names));
        }
        return new OfCluster(beans.getBean(names.get(0), ConclaveCluster.class)); // Boot starts it as it is made
    }

    /** The names of the beans that the annotation is on; none is made for that. */
    private static List<String> clusters(ListableBeanFactory beans) {
        return Arrays.stream(beans.getBeanNamesForType(ConclaveCluster.class, true, false))
                .filter(name -> beans.findAnnotationOnBean(name, ServiceConnection.class, false) != null)
                .toList();
    }

    /** The servers tell each other's names in their own network, which lead nowhere outside of it. */
    private record OfCluster(ConclaveCluster cluster) implements ConclaveConnectionDetails {
        @Override
        public String getConnectString() {
            return cluster.getConnectString();
        }

        @Override
        public boolean canFollowEnsemble() {
            return false;
        }
    }

    /** Whether there is such a bean; asked when all beans of the application are defined. */
    static final class OnCluster extends SpringBootCondition implements ConfigurationCondition {
        OnCluster() {}

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beans = context.getBeanFactory();
            List<String> names = beans == null ? List.of() : clusters(beans);
            ConditionMessage.Builder message = ConditionMessage.forCondition("@ServiceConnection on ConclaveCluster");
            return names.isEmpty()
                    ? ConditionOutcome.noMatch(message.because("there is none"))
                    : ConditionOutcome.match(message.foundExactly(names));
        }
    }
}
