package io.conclave.proofs.contract;

import io.conclave.client.WireBackend;
import io.conclave.spi.Backend;
import io.conclave.spi.BackendOptions;
import io.conclave.spi.ConnectString;
import io.conclave.testkit.contract.BackendContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The client's contract where there are several servers; the modules of the client, the server and {@code
 * server-testing} have it in the default build.
 */
class BackendContractIT {
    private abstract static class OnServers extends BackendContract {
        private final ContractBackends servers;

        OnServers(ContractBackends servers) {
            this.servers = servers;
        }

        @Override
        protected Backend openBackend(BackendOptions options) {
            return WireBackend.open(ConnectString.parse(servers.url()), options);
        }
    }

    @Nested
    class Ensemble extends OnServers {
        Ensemble() {
            super(ContractBackends.ENSEMBLE);
        }
    }

    @Nested
    class Standalone extends OnServers {
        Standalone() {
            super(ContractBackends.STANDALONE);
        }
    }

    @Nested
    @Tag("long")
    class ObserverWithKills extends OnServers {
        ObserverWithKills() {
            super(ContractBackends.OBSERVER_WITH_KILLS);
        }
    }
}
