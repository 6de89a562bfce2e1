package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.error.RefusalReason;
import io.conclave.node.DataCodec;
import io.conclave.testkit.contract.DoubtfulWrites;
import io.conclave.testkit.memory.RequestFate;
import org.junit.jupiter.api.Test;

/** The reply of a write is lost, and the look what became of it is refused: that says nothing of the write. */
class RefusedLookTest extends DoubtfulWrites {
    private SharedCounter counter() {
        return SharedCounter.at(coordinator, "/counter");
    }

    private SharedValue<String> value() {
        return SharedValue.at(coordinator, "/value", DataCodec.TEXT);
    }

    @Test
    void additionIsLookedForAgain() throws Exception {
        counter().add(1);
        assertEquals(2, isFoundOut(() -> counter().addAsync(1)));
        assertEquals(2, counter().get());
    }

    @Test
    void additionThatMayNotBeLookedForIsUnknown() throws Exception {
        counter().add(1);
        isUnknown(() -> counter().addAsync(1));
        assertEquals(2, counter().get());
    }

    @Test
    void creationIsLookedForAgain() throws Exception {
        assertEquals(1, isFoundOut(() -> counter().addAsync(1)));
        assertEquals(1, counter().get());
    }

    @Test
    void creationThatDidNotArriveIsSentAgain() throws Exception {
        assertEquals(
                1,
                write(() -> counter().addAsync(1), RequestFate.DROP_BEFORE, RefusalReason.LIMIT_EXCEEDED, 3)
                        .join());
        assertEquals(1, counter().get());
    }

    @Test
    void creationThatMayNotBeLookedForIsUnknown() throws Exception {
        isUnknown(() -> counter().addAsync(1));
        assertEquals(1, counter().get());
    }

    @Test
    void valueThatIsSetIsLookedForAgain() throws Exception {
        value().set("one");
        assertEquals("two", isFoundOut(() -> value().setAsync("two")).value());
    }

    @Test
    void valueThatMayNotBeLookedForIsUnknown() throws Exception {
        value().set("one");
        isUnknown(() -> value().setAsync("two"));
        assertEquals("two", value().get().orElseThrow().value());
    }

    @Test
    void publicationThatMayNotBeLookedForIsUnknown() throws Exception {
        Configuration configuration = Configuration.at(coordinator, "/config");
        ConfigKey<String> key = ConfigKey.ofText("key");
        configuration.publish(ConfigBatch.setting(key, "one"));
        isUnknown(() -> configuration.publishAsync(ConfigBatch.setting(key, "two")));
    }
}
