package io.conclave.proofs.contract;

import io.conclave.testkit.contract.StoreUnderTest;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Makes a contract a test of a backend: {@code class Standalone extends LockContract implements RunsOn.Standalone {}}.
 */
@ExtendWith(FreshStore.class)
interface RunsOn extends StoreUnderTest {
    /** On which of them. */
    ContractBackends backend();

    @Override
    default String connectString() {
        return FreshStore.of(this);
    }

    @Override
    default Duration sessionTimeout() {
        return ContractEnsemble.SESSION_TIMEOUT;
    }

    /** On {@link ContractBackends#EMBEDDED}. */
    @Execution(ExecutionMode.CONCURRENT)
    interface Embedded extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.EMBEDDED;
        }
    }

    /** On {@link ContractBackends#STANDALONE}. */
    @Execution(ExecutionMode.CONCURRENT)
    interface Standalone extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.STANDALONE;
        }
    }

    /** On {@link ContractBackends#APACHE_ZOOKEEPER}. */
    @Execution(ExecutionMode.CONCURRENT)
    interface OnApacheZooKeeper extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.APACHE_ZOOKEEPER;
        }
    }

    /** On {@link ContractBackends#ZOOKEEPER_3_5}. */
    interface ZooKeeper35 extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ZOOKEEPER_3_5;
        }
    }

    /** On {@link ContractBackends#ZOOKEEPER_3_6}. */
    interface ZooKeeper36 extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ZOOKEEPER_3_6;
        }
    }

    /** On {@link ContractBackends#ZOOKEEPER_3_7}. */
    interface ZooKeeper37 extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ZOOKEEPER_3_7;
        }
    }

    /** On {@link ContractBackends#ZOOKEEPER_3_8}. */
    interface ZooKeeper38 extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ZOOKEEPER_3_8;
        }
    }

    /** On {@link ContractBackends#ENSEMBLE}: the hardest backend without faults, so the default build has it. */
    @Tag("default")
    @Execution(ExecutionMode.CONCURRENT)
    interface Ensemble extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ENSEMBLE;
        }

        @Override
        default Duration sessionTimeout() {
            return ContractEnsemble.CALM_SESSION_TIMEOUT;
        }
    }

    /** On {@link ContractBackends#ENSEMBLE_WITH_KILLS}. */
    @ExtendWith(OwnRequests.class)
    interface EnsembleWithKills extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.ENSEMBLE_WITH_KILLS;
        }
    }

    /** On {@link ContractBackends#OBSERVER_WITH_KILLS}. */
    interface ObserverWithKills extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.OBSERVER_WITH_KILLS;
        }
    }

    /** On {@link ContractBackends#PROCESSES}. */
    @ExtendWith(OwnRequests.class)
    interface Processes extends RunsOn {
        @Override
        default ContractBackends backend() {
            return ContractBackends.PROCESSES;
        }
    }
}
