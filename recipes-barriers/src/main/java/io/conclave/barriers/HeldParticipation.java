package io.conclave.barriers;

import io.conclave.line.AbstractGrant;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The participation of a participant that has entered. */
final class HeldParticipation extends AbstractGrant<BarrierParticipant> implements Participation {
    HeldParticipation(BarrierParticipant participant) {
        super(participant);
    }

    @Override
    public void leave() throws InterruptedException {
        Wait.await(new Leaving(request()).begin());
    }

    @Override
    public void leave(Duration timeout) throws InterruptedException {
        Waiting.checkedTimeout(timeout);
        Wait.await(new Leaving(request()).begin(), timeout);
    }

    @Override
    public CompletableFuture<Void> leaveAsync() {
        return Wait.stage(new Leaving(request()).begin());
    }

    @Override
    public CompletableFuture<Void> leaveAsync(Duration timeout) {
        Waiting.checkedTimeout(timeout);
        return Wait.stage(new Leaving(request()).begin(), timeout);
    }

    @Override
    public String toString() {
        return "Participation[" + request() + "]";
    }
}
