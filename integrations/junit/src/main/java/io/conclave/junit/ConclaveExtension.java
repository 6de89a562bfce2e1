package io.conclave.junit;

import io.conclave.coordinator.CoordinatorBuilder;
import io.conclave.ensemble.ConclaveEnsemble;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * What {@link ConclaveTest} stands for, to be registered with settings that the annotation does not have:
 *
 * <pre>{@code
 * @RegisterExtension
 * static final ConclaveExtension conclave = ConclaveExtension.builder()
 *         .servers(3)
 *         .coordinators(coordinator -> coordinator.sessionTimeout(Duration.ofSeconds(4)))
 *         .build();
 * }</pre>
 *
 * <p>In a static field there is one store for all tests of the class, in an instance field one for each test, unless
 * the class has the lifecycle {@code PER_CLASS}. The parameters are those of {@link ConclaveTest}.
 *
 * <p>It has no state of its own: everything lies in JUnit's stores, and is closed with them.
 */
public final class ConclaveExtension
        implements ParameterResolver, BeforeAllCallback, AfterEachCallback, AfterAllCallback {
    private final Optional<Settings> settings;

    /** For JUnit: the settings are those of the nearest {@link ConclaveTest}. */
    public ConclaveExtension() {
        this(Optional.empty());
    }

    private ConclaveExtension(Optional<Settings> settings) {
        this.settings = settings;
    }

    /** A builder of an extension that gives a store in memory. */
    public static Builder builder() {
        return new Builder();
    }

    /** Sets what differs from the defaults. Not thread-safe. */
    public static final class Builder {
        private int servers;
        private boolean manualClock;
        private UnaryOperator<CoordinatorBuilder> coordinators = UnaryOperator.identity();
        private UnaryOperator<ConclaveEnsemble.Builder> ensemble = UnaryOperator.identity();

        private Builder() {}

        /** How many servers there are; 0 by default, for a store in memory. */
        public Builder servers(int value) {
            servers = value;
            return this;
        }

        /**
         * Makes the clock a manual one even where no test has it as a parameter. Needs a store in memory.
         */
        public Builder manualClock() {
            manualClock = true;
            return this;
        }

        /** Changes how the coordinators are made that tests have as parameters; their clock is not up to it. */
        public Builder coordinators(UnaryOperator<CoordinatorBuilder> change) {
            coordinators = Objects.requireNonNull(change, "change");
            return this;
        }

        /** Changes how the servers are made; their number is that of {@link #servers}. */
        public Builder ensemble(UnaryOperator<ConclaveEnsemble.Builder> change) {
            ensemble = Objects.requireNonNull(change, "change");
            return this;
        }

        /**
         * The extension.
         *
         * @throws IllegalArgumentException if a setting breaks its rule, or two do not go together
         */
        public ConclaveExtension build() {
            return new ConclaveExtension(Optional.of(new Settings(servers, manualClock, coordinators, ensemble)));
        }
    }

    /** Constructors of tests get what belongs to the test, if that is where the annotation is. */
    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext rootContext) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TestParameter.isOurs(parameter);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return TestParameter.of(parameter, context).from(scope(context));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        Scope.begin(context, this);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        undoFaults(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        undoFaults(context);
    }

    private void undoFaults(ExtensionContext context) {
        scope(context).started().ifPresent(Environment::undoFaults);
    }

    private Scope scope(ExtensionContext context) {
        return Scope.of(context, this, settings);
    }
}
