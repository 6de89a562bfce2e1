package io.conclave.proofs.campaign;

import io.conclave.proofs.ensemble.EnsembleBuilder;

/** With the secret of the members only. */
class RecoveryIT extends RecoveryScenarios {
    @Override
    EnsembleBuilder configured(EnsembleBuilder ensemble) {
        return ensemble;
    }
}
