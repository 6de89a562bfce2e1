package io.conclave.barriers;

import io.conclave.line.AbstractGrant;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The participation of a participant that has entered. */
final class HeldParticipation extends AbstractGrant<BarrierParticipant> implements Participation {
    HeldParticipation(BarrierParticipant participant) {
        super(participant);
    }

    @Override
    public void leave() throws InterruptedException {
        new Leaving(request()).await();
    }

    @Override
    public void leave(Duration timeout) throws InterruptedException {
        new Leaving(request()).await(timeout);
    }

    @Override
    public CompletableFuture<Void> leaveAsync() {
        return new Leaving(request()).stage();
    }

    @Override
    public CompletableFuture<Void> leaveAsync(Duration timeout) {
        return new Leaving(request()).stage(timeout);
    }

    @Override
    public String toString() {
        return "Participation[" + request() + "]";
    }
}
