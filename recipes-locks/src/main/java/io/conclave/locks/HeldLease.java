package io.conclave.locks;

import io.conclave.grant.FencingToken;
import io.conclave.line.AbstractGrant;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A lease that is held, as the application has it. */
final class HeldLease extends AbstractGrant<LeaseHold> implements LeasedGrant {
    HeldLease(LeaseHold hold) {
        super(hold);
    }

    @Override
    public String id() {
        return request().path().name();
    }

    @Override
    public int permits() {
        return request().permits();
    }

    @Override
    public Duration lease() {
        return request().lease();
    }

    @Override
    public FencingToken token() {
        return request().token();
    }

    @Override
    public NodePath path() {
        return request().path();
    }

    @Override
    public NodePath absolutePath() {
        return request().session().absolute(request().path());
    }

    @Override
    public void extend(Duration lease) throws InterruptedException {
        Waiting.await(request().session(), request().extend(LeaseRecord.checked(lease)));
    }

    @Override
    public CompletableFuture<Void> extendAsync(Duration lease) {
        return request()
                .session()
                .onListenerThread("extending " + path(), request().extend(LeaseRecord.checked(lease)));
    }

    @Override
    public String toString() {
        return "LeasedGrant[" + path() + ", " + token() + "]";
    }
}
