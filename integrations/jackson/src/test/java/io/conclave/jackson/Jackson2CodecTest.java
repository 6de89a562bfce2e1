package io.conclave.jackson;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.conclave.node.DataCodec;
import java.util.List;

class Jackson2CodecTest extends JsonCodecContract {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    <T> DataCodec<T> codec(Class<T> type) {
        return Jackson2Codec.of(MAPPER, type);
    }

    @Override
    DataCodec<List<Order>> codecOfOrders() {
        return Jackson2Codec.of(MAPPER, MAPPER.getTypeFactory().constructCollectionType(List.class, Order.class));
    }
}
