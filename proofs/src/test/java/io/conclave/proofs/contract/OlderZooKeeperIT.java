package io.conclave.proofs.contract;

import io.conclave.client.WireBackend;
import io.conclave.config.ConfigurationContract;
import io.conclave.locks.MultiLockContract;
import io.conclave.locks.SemaphoreContract;
import io.conclave.membership.GroupContract;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.Capability;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The contracts of the client, of caches and of groups on the newest patch release of each older line of Apache
 * ZooKeeper: the oldest and the newest line in the proofs, the others nightly. On 3.5 also the semaphore's and the
 * multi-lock's, which read what a transaction has created.
 */
class OlderZooKeeperIT {
    private abstract static class Client extends BackendContract {
        private final ContractBackends server;

        Client(ContractBackends server) {
            this.server = server;
        }

        @Override
        protected Backend openBackend(BackendOptions options) {
            return WireBackend.open(ConnectString.parse(server.url()), options);
        }
    }

    @Nested
    class ClientOn35 extends Client {
        ClientOn35() {
            super(ContractBackends.ZOOKEEPER_3_5);
        }

        @Override
        protected boolean offers(Capability capability) {
            return capability != Capability.PERSISTENT_WATCHES && super.offers(capability);
        }
    }

    @Nested
    class ConfigurationOn35 extends ConfigurationContract implements RunsOn.ZooKeeper35 {}

    @Nested
    class SemaphoreOn35 extends SemaphoreContract implements RunsOn.ZooKeeper35 {}

    @Nested
    class MultiLockOn35 extends MultiLockContract implements RunsOn.ZooKeeper35 {}

    @Nested
    class GroupOn35 extends GroupContract implements RunsOn.ZooKeeper35 {}

    @Nested
    @Tag("long")
    class ClientOn36 extends Client {
        ClientOn36() {
            super(ContractBackends.ZOOKEEPER_3_6);
        }
    }

    @Nested
    @Tag("long")
    class ConfigurationOn36 extends ConfigurationContract implements RunsOn.ZooKeeper36 {}

    @Nested
    @Tag("long")
    class GroupOn36 extends GroupContract implements RunsOn.ZooKeeper36 {}

    @Nested
    @Tag("long")
    class ClientOn37 extends Client {
        ClientOn37() {
            super(ContractBackends.ZOOKEEPER_3_7);
        }
    }

    @Nested
    @Tag("long")
    class ConfigurationOn37 extends ConfigurationContract implements RunsOn.ZooKeeper37 {}

    @Nested
    @Tag("long")
    class GroupOn37 extends GroupContract implements RunsOn.ZooKeeper37 {}

    @Nested
    class ClientOn38 extends Client {
        ClientOn38() {
            super(ContractBackends.ZOOKEEPER_3_8);
        }
    }

    @Nested
    class ConfigurationOn38 extends ConfigurationContract implements RunsOn.ZooKeeper38 {}

    @Nested
    class GroupOn38 extends GroupContract implements RunsOn.ZooKeeper38 {}
}
