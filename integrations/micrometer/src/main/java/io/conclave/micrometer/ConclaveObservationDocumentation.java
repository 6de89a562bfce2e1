package io.conclave.micrometer;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations that {@link ConclaveObservations} makes, and their keys. */
public enum ConclaveObservationDocumentation implements ObservationDocumentation {
    /** From the call until what was waited for came, or the wait ended in vain. */
    WAIT,
    /** From the grant until it was given back or lost. */
    HOLD;

    @Override
    public String getName() {
        return this == WAIT ? "conclave.wait" : "conclave.hold";
    }

    @Override
    public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
        return DefaultConclaveObservationConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
        return LowCardinalityKeys.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
        return HighCardinalityKeys.values();
    }

    @Override
    public Observation.Event[] getEvents() {
        return this == WAIT ? Events.values() : new Observation.Event[0];
    }

    @Override
    public String getPrefix() {
        return "conclave.";
    }

    /** Keys with few values: tags of meters. */
    public enum LowCardinalityKeys implements KeyName {
        /** What is waited for or held: {@code lock}, {@code election}, {@code semaphore}. */
        RECIPE("conclave.recipe"),
        /** What {@link PathNames} calls the path. */
        NAME("conclave.name"),
        /** An {@link io.conclave.metrics.Outcome} in small letters; {@code none} as long as it lasts. */
        OUTCOME("conclave.outcome");

        private final String key;

        LowCardinalityKeys(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }
    }

    /** Keys with any number of values: on spans only. */
    public enum HighCardinalityKeys implements KeyName {
        /** The recipe's path. */
        PATH("conclave.path"),
        /** The own znode. */
        ZNODE("conclave.znode"),
        /** The fencing token of a hold. */
        TOKEN("conclave.token"),
        /** What was waited for last, in words. */
        OBSTACLE("conclave.obstacle"),
        /** Who was waited for last, by the data of its znode. */
        HOLDER("conclave.holder"),
        /** Why it was lost. */
        REASON("conclave.reason");

        private final String key;

        HighCardinalityKeys(String key) {
            this.key = key;
        }

        @Override
        public String asString() {
            return key;
        }

        @Override
        public boolean isRequired() {
            return this == PATH;
        }
    }

    /** What happens while one waits. */
    public enum Events implements Observation.Event {
        /** It is known who or what is in the way; the contextual name says so in words. */
        OBSTACLE;

        @Override
        public String getName() {
            return "conclave.obstacle";
        }
    }
}
