package io.conclave.config;

import io.conclave.node.DataCodec;
import io.conclave.testkit.contract.DoubtfulWrites;
import org.junit.jupiter.api.Test;

/** The coordinator is closed before it was found out what became of a write: it must not count as one never sent. */
class ClosedInDoubtTest extends DoubtfulWrites {
    private static final ConfigKey<String> KEY = ConfigKey.ofText("key");

    @Test
    void additionIsUnknown() throws Exception {
        SharedCounter counter = SharedCounter.at(coordinator, "/counter");
        counter.add(1);
        isUnknownIfClosed(() -> counter.addAsync(1));
    }

    @Test
    void creationIsUnknown() {
        isUnknownIfClosed(() -> SharedCounter.at(coordinator, "/counter").addAsync(1));
    }

    @Test
    void valueThatIsSetIsUnknown() throws Exception {
        SharedValue<String> value = SharedValue.at(coordinator, "/value", DataCodec.TEXT);
        value.set("one");
        isUnknownIfClosed(() -> value.setAsync("two"));
    }

    @Test
    void publicationIsUnknown() throws Exception {
        Configuration configuration = Configuration.at(coordinator, "/config");
        configuration.publish(ConfigBatch.setting(KEY, "one"));
        isUnknownIfClosed(() -> configuration.publishAsync(ConfigBatch.setting(KEY, "two")));
    }
}
