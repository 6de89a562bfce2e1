package io.conclave.discovery;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.conclave.config.ConfigKey;
import io.conclave.config.Configuration;
import io.conclave.coordinator.Coordinator;
import io.conclave.error.ClosedException;
import io.conclave.membership.Group;
import io.conclave.node.DataCodec;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The continuation of a future gets the failure that its call promises, without the wrapper of dependent stages. */
class PlainFailuresTest {
    private static void failsAsClosed(CompletableFuture<?> stage) throws Exception {
        Throwable failure = stage.handle((result, cause) -> cause).get(120, SECONDS);
        assertEquals(ClosedException.class, failure.getClass(), failure::toString);
    }

    @Test
    void futuresOfAClosedCoordinatorFailWithTheExceptionItself() throws Exception {
        Coordinator coordinator = Coordinator.connect("memory:" + UUID.randomUUID());
        coordinator.close();
        Group<String> group = Group.at(coordinator, "/group", DataCodec.TEXT);
        failsAsClosed(group.membersAsync());
        failsAsClosed(group.view().firstSnapshot());
        Configuration configuration = Configuration.at(coordinator, "/config");
        failsAsClosed(configuration.getAsync(ConfigKey.ofText("key")));
        failsAsClosed(configuration.view().firstSnapshot());
        ServiceDiscovery discovery = ServiceDiscovery.at(coordinator, "/services");
        failsAsClosed(discovery.instancesAsync("orders"));
        failsAsClosed(discovery.cache("orders").loaded());
        NameService names = NameService.at(coordinator, "/names");
        failsAsClosed(names.bindAsync("printer", List.of("first")));
        failsAsClosed(names.bindIfAbsentAsync("printer", List.of("first")));
        failsAsClosed(names.resolveAsync("printer"));
        failsAsClosed(names.namesAsync());
    }
}
