package io.conclave.spring.boot;

import io.conclave.coordinator.Coordinator;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;

/** Says what to set when a coordinator is asked for and none is configured. Before Boot's own analyzer. */
final class MissingCoordinatorFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException>
        implements Ordered {
    MissingCoordinatorFailureAnalyzer() {}

    @Override
    public int getOrder() {
        return 0;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, NoSuchBeanDefinitionException cause, @Nullable String description) {
        if (cause instanceof NoUniqueBeanDefinitionException
                || cause.getBeanType() == null
                || !Coordinator.class.equals(cause.getBeanType())) {
            return null;
        }
        String who = description == null ? "The application" : description;
        return new FailureAnalysis(
                who + " needs a coordinator, and none is configured: conclave.connect-string is not set.",
                "Set conclave.connect-string, to conclave://host1:2181,host2:2181,host3:2181 say. There is no default,"
                        + " so that no application connects to the wrong servers.",
                cause);
    }
}
