package io.conclave.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ConclaveEndpointTest {
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withPropertyValues("conclave.connect-string=memory:")
            .withConfiguration(AutoConfigurations.of(
                    ConclaveAutoConfiguration.class,
                    LeaderElectionAutoConfiguration.class,
                    ConclaveEndpointAutoConfiguration.class));

    @Test
    void endpointTellsWhatIsHeldAndAwaited() {
        runner.withPropertyValues("management.endpoints.web.exposure.include=conclave", "conclave.elections=/e")
                .run(context -> {
                    ConclaveEndpoint endpoint = context.getBean(ConclaveEndpoint.class);
                    DistributedLock lock = DistributedLock.at(context.getBean(Coordinator.class), "/orders");
                    await().until(() -> endpoint.overview().elections().get(0).leader());
                    LockGrant grant = lock.acquire(Duration.ofSeconds(60));
                    CompletableFuture<LockGrant> waiting = lock.acquireAsync();
                    await().until(() ->
                            endpoint.overview().awaited().stream().anyMatch(wait -> wait.obstacle() != null));
                    ConclaveEndpoint.Overview overview = endpoint.overview();
                    assertThat(overview.sessions())
                            .containsOnlyKeys("conclaveCoordinator")
                            .containsValue(new ConclaveEndpoint.Session("CONNECTED", null));
                    assertThat(overview.awaitedCount()).isEqualTo(1);
                    assertThat(overview.awaited().get(0).recipe()).isEqualTo("lock");
                    assertThat(overview.awaited().get(0).path()).isEqualTo("/orders");
                    assertThat(overview.held())
                            .anySatisfy(hold -> {
                                assertThat(hold.recipe()).isEqualTo("lock");
                                assertThat(hold.token()).isEqualTo(grant.token().toString());
                                assertThat(hold.znode()).isEqualTo(grant.path().toString());
                            })
                            .anySatisfy(hold -> assertThat(hold.recipe()).isEqualTo("election"));
                    assertThat(overview.elections().get(0).path()).isEqualTo("/e");
                    assertThat(overview.elections().get(0).token()).isNotNull();
                    grant.close();
                    waiting.join().close();
                    await().until(() -> endpoint.overview().awaitedCount() == 0
                            && endpoint.overview().heldCount() == 1);
                });
    }

    @Test
    void endpointIsThereOnlyWhereItIsExposed() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(ConclaveEndpoint.class)
                .doesNotHaveBean(ConclaveActivity.class));
    }
}
