package io.conclave.proofs.contract;

import io.conclave.shedlock.ShedLockContract;
import org.junit.jupiter.api.Nested;

/** What ShedLock demands of a lock provider, on every kind of server. */
class ShedLockContractIT {
    private static final int FEW = 20; // each attempt takes some round trips

    @Nested
    class Embedded extends ShedLockContract implements RunsOn.Embedded {
        @Override
        protected int turns() {
            return FEW;
        }
    }

    @Nested
    class OnApacheZooKeeper extends ShedLockContract implements RunsOn.OnApacheZooKeeper {
        @Override
        protected int turns() {
            return FEW;
        }
    }

    @Nested
    class Ensemble extends ShedLockContract implements RunsOn.Ensemble {
        @Override
        protected int turns() {
            return FEW;
        }
    }
}
