package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HalfOpenHandshakesTest {
    private final HalfOpenHandshakes halfOpen = new HalfOpenHandshakes();
    private final List<Channel> gone = new ArrayList<>();

    private Channel enter() {
        EmbeddedChannel channel = new EmbeddedChannel();
        halfOpen.enter(channel, () -> gone.add(channel));
        return channel;
    }

    @Test
    void theOldestGivesWayWhenThereAreTooMany() {
        Channel first = enter();
        Channel second = enter();
        for (int i = 2; i < HalfOpenHandshakes.MOST; i++) {
            enter();
        }
        assertEquals(List.of(), gone);
        enter();
        assertEquals(List.of(first), gone);
        halfOpen.leave(first);
        halfOpen.leave(second);
        assertEquals(HalfOpenHandshakes.MOST - 1, halfOpen.count());
        enter();
        assertEquals(List.of(first), gone);
    }
}
