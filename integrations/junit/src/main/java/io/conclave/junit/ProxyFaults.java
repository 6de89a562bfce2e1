package io.conclave.junit;

import io.conclave.coordinator.Coordinator;
import io.conclave.session.Registration;
import java.util.concurrent.CountDownLatch;

/** The faults of coordinators that reach their servers through proxies. */
final class ProxyFaults implements ConclaveFaults {
    private final Clients<ProxiedClient> clients;

    ProxyFaults(Clients<ProxiedClient> clients) {
        this.clients = clients;
    }

    @Override
    public void cutOff(Coordinator coordinator) {
        clients.get(coordinator).cutOff();
    }

    @Override
    public void reconnect(Coordinator coordinator) {
        clients.get(coordinator).restore();
    }

    @Override
    public void loseNextReply(Coordinator coordinator) {
        clients.get(coordinator).loseNextReply();
    }

    @Override
    public void endSession(Coordinator coordinator) throws InterruptedException {
        ProxiedClient client = clients.get(coordinator);
        CountDownLatch lost = new CountDownLatch(1);
        Registration listening = coordinator.onStateChange(state -> {
            if (!state.isLive()) {
                lost.countDown();
            }
        });
        try {
            client.cutOff();
            if (coordinator.state().isLive()) {
                lost.await(); // it comes: the coordinator's own clock ends the session
            }
        } finally {
            client.restore();
            listening.close();
        }
    }

    @Override
    public void undoAll() {
        clients.all().forEach(ProxiedClient::restore);
    }
}
