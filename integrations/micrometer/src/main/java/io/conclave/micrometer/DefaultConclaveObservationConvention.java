package io.conclave.micrometer;

import io.conclave.error.Holder;
import io.conclave.metrics.Ongoing;
import io.conclave.micrometer.ConclaveObservationDocumentation.HighCardinalityKeys;
import io.conclave.micrometer.ConclaveObservationDocumentation.LowCardinalityKeys;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.common.docs.KeyName;
import java.util.Locale;
import java.util.Optional;

/**
 * The names and keys of {@link ConclaveObservationDocumentation}. Low cardinality, so also tags of meters: recipe,
 * name, outcome. High cardinality, so only on spans: path, znode, token, who was waited for, why it was lost.
 */
public class DefaultConclaveObservationConvention implements ConclaveObservationConvention {
    static final DefaultConclaveObservationConvention INSTANCE = new DefaultConclaveObservationConvention();

    private static final String NOT_ENDED = "none";

    /** For one that extends it. */
    public DefaultConclaveObservationConvention() {}

    /** As in {@code lock wait}. */
    @Override
    public String getContextualName(ConclaveObservationContext context) {
        return context.recipe() + (context.isHold() ? " hold" : " wait");
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(ConclaveObservationContext context) {
        String outcome = context.outcome()
                .map(how -> how.name().toLowerCase(Locale.ROOT))
                .orElse(NOT_ENDED);
        return KeyValues.of(
                LowCardinalityKeys.RECIPE.withValue(context.recipe()),
                LowCardinalityKeys.NAME.withValue(context.pathName()),
                LowCardinalityKeys.OUTCOME.withValue(outcome));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(ConclaveObservationContext context) {
        return KeyValues.of(HighCardinalityKeys.PATH.withValue(context.path()))
                .and(optional(HighCardinalityKeys.OBSTACLE, context.obstacle()))
                .and(optional(HighCardinalityKeys.HOLDER, context.holder().map(Holder::text)))
                .and(optional(HighCardinalityKeys.ZNODE, context.detail(Ongoing.ZNODE)))
                .and(optional(HighCardinalityKeys.TOKEN, context.detail(Ongoing.TOKEN)))
                .and(optional(HighCardinalityKeys.REASON, context.detail(Ongoing.REASON)));
    }

    private static KeyValues optional(KeyName key, Optional<String> value) {
        return value.map(text -> KeyValues.of(KeyValue.of(key, text))).orElse(KeyValues.empty());
    }
}
