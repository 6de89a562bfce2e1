package io.conclave.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.config.SharedValue;
import io.conclave.config.Versioned;
import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a codec of either line of Jackson does. */
abstract class JsonCodecContract {
    record Order(String name, int count) {}

    record Cyclic(List<Object> items) {}

    abstract <T> DataCodec<T> codec(Class<T> type);

    abstract DataCodec<List<Order>> codecOfOrders();

    @Test
    void aValueComesBack() {
        Order order = new Order("bücher", 3);
        byte[] data = codec(Order.class).encode(order);
        assertEquals("{\"name\":\"bücher\",\"count\":3}", new String(data, UTF_8));
        assertEquals(order, codec(Order.class).decode(data));
    }

    @Test
    void aListOfValuesComesBackWithTheirType() {
        List<Order> orders = List.of(new Order("a", 1), new Order("b", 2));
        assertEquals(orders, codecOfOrders().decode(codecOfOrders().encode(orders)));
    }

    @Test
    void otherDataIsRefusedWithTheTypeAndTheReason() {
        refuses("", "in 0 bytes");
        refuses("{\"name\":", "Unexpected end-of-input");
        refuses("nothing", "nothing");
        refuses("[]", "START_ARRAY");
        refuses("{\"name\":\"a\",\"count\":\"many\"}", "many");
    }

    @Test
    void whatStandsBehindTheValueIsRefused() {
        refuses("{\"name\":\"a\",\"count\":1} {}", "Trailing token");
    }

    @Test
    void nullIsRefused() {
        refuses("null", "must not be null");
        assertThrows(NullPointerException.class, () -> codec(Order.class).encode(null));
    }

    @Test
    void aValueThatCannotBeWrittenIsRefused() {
        Cyclic cyclic = new Cyclic(new ArrayList<>());
        cyclic.items().add(cyclic);
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> codec(Cyclic.class).encode(cyclic));
        assertTrue(refusal.getMessage().contains("cannot be written as JSON"), refusal.getMessage());
    }

    @Test
    void aRecipeKeepsItsValuesAsJson() throws Exception {
        try (Coordinator coordinator = Coordinator.connect("memory:" + UUID.randomUUID())) {
            SharedValue<Order> value = SharedValue.at(coordinator, "/orders/last", codec(Order.class));
            value.set(new Order("a", 1));
            value.update(now -> new Order("b", now.orElseThrow().count() + 1));
            assertEquals(Optional.of(new Order("b", 2)), value.get().map(Versioned::value));
        }
    }

    private void refuses(String text, String reason) {
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> codec(Order.class).decode(text.getBytes(UTF_8)));
        assertTrue(refusal.getMessage().startsWith("Invalid JSON of io.conclave.jackson."), refusal.getMessage());
        assertTrue(refusal.getMessage().contains(reason), refusal.getMessage());
    }
}
