package io.conclave.proofs.contract;

import io.conclave.proofs.contract.ContractBackends.Servers;
import io.conclave.proofs.ensemble.Ensemble;
import io.conclave.proofs.ensemble.EnsembleKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Three server processes with session timeouts from 200 ms on, whose leader is killed and started again every so many
 * seconds if a system property asks for it.
 */
final class ContractProcesses implements Servers {
    private static final int TICK_MS = 100;
    private static final int KILL_EVERY_SECONDS = Integer.getInteger("contract.kills", 0);

    private final Ensemble ensemble;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread killer = new Thread(this::killLeaders, "leader-killer");

    ContractProcesses() {
        try {
            ensemble = Ensemble.of(EnsembleKind.chosen(), Files.createTempDirectory("contract-ensemble"))
                    .ticks(TICK_MS, 100, 20)
                    .with("maxSessionTimeout", 60_000)
                    .withSmallJvms()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        killer.setDaemon(true);
        if (KILL_EVERY_SECONDS > 0) {
            killer.start();
        }
    }

    private void killLeaders() {
        try {
            while (!closed.await(KILL_EVERY_SECONDS, TimeUnit.SECONDS)) {
                ensemble.heal().kill();
                ensemble.awaitLeader();
                ensemble.heal();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String url() {
        return ensemble.connectString();
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            killer.join(); // or it would start what is ended here
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ensemble.close();
    }
}
