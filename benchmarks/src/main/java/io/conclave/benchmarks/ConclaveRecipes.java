package io.conclave.benchmarks;

import io.conclave.coordinator.Coordinator;
import io.conclave.election.LeaderElection;
import io.conclave.locks.DistributedLock;

/** This project's recipes. */
final class ConclaveRecipes implements RecipeClient {
    private final Coordinator coordinator;

    ConclaveRecipes(String hostAndPort) {
        coordinator = Coordinator.connect("zookeeper://" + hostAndPort);
    }

    @Override
    public Mutex mutex(String path, boolean awaitRelease) {
        DistributedLock lock = DistributedLock.at(coordinator, path);
        return awaitRelease ? () -> lock.acquire()::close : () -> lock.acquire()::closeAsync;
    }

    @Override
    public void campaign(String path, Runnable elected) {
        LeaderElection.at(coordinator, path).campaignAsync().thenRun(elected);
    }

    @Override
    public void close() {
        coordinator.close();
    }
}
