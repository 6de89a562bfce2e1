package io.conclave.proofs.contract;

import io.conclave.election.ElectionContract;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The election's contract on every backend. */
class ElectionContractIT {
    @Nested
    class Embedded extends ElectionContract {
        @TempDir
        private Path directory;

        @Override
        protected String connectString() {
            return "embedded:" + directory;
        }
    }

    @Nested
    class Standalone extends OnServer {
        Standalone() {
            super(ContractBackends.STANDALONE);
        }
    }

    @Nested
    class OnApacheZooKeeper extends OnServer {
        OnApacheZooKeeper() {
            super(ContractBackends.APACHE_ZOOKEEPER);
        }
    }

    @Nested
    @EnabledIfSystemProperty(
            named = "contract.ensemble",
            matches = "true",
            disabledReason = "takes a minute and a half")
    class OnEnsemble extends OnServer {
        OnEnsemble() {
            super(ContractBackends.ENSEMBLE);
        }
    }

    private abstract static class OnServer extends ElectionContract {
        private final ContractBackends backend;
        private String url = "";

        OnServer(ContractBackends backend) {
            this.backend = backend;
        }

        @BeforeEach
        void makeChroot() throws InterruptedException {
            url = backend.freshUrl();
        }

        @Override
        protected String connectString() {
            return url;
        }
    }
}
