package io.conclave.jackson;

import io.conclave.node.DataCodec;
import java.util.List;
import tools.jackson.databind.ObjectMapper;

class Jackson3CodecTest extends JsonCodecContract {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @Override
    <T> DataCodec<T> codec(Class<T> type) {
        return Jackson3Codec.of(MAPPER, type);
    }

    @Override
    DataCodec<List<Order>> codecOfOrders() {
        return Jackson3Codec.of(MAPPER, MAPPER.getTypeFactory().constructCollectionType(List.class, Order.class));
    }
}
