package io.conclave.election;

import io.conclave.grant.FencingToken;
import io.conclave.line.AbstractGrant;
import io.conclave.line.LossInterrupt;
import io.conclave.node.NodePath;
import io.conclave.recipe.Waiting;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The grant of a campaign that leads. */
final class HeldLeadership extends AbstractGrant<Campaign> implements Leadership {
    private final FencingToken token;
    private final NodePath path;

    HeldLeadership(Campaign campaign) {
        super(campaign);
        this.token = campaign.place().token();
        this.path = campaign.place().path().orElseThrow();
    }

    @Override
    public FencingToken token() {
        return token;
    }

    @Override
    public NodePath path() {
        return path;
    }

    @Override
    public NodePath absolutePath() {
        return request().session().absolute(path);
    }

    @Override
    protected boolean isReleasedBy(LossInterrupt work) {
        return request().isResignedBy(work);
    }

    @Override
    public void update(byte[] data) throws InterruptedException {
        Waiting.await(request().session(), request().update(data.clone()));
    }

    @Override
    public CompletableFuture<Void> updateAsync(byte[] data) {
        return request()
                .session()
                .onListenerThread(
                        "update of the leader of " + request().what(), request().update(data.clone()));
    }

    @Override
    public void handOver(Candidate candidate) throws InterruptedException {
        begin(candidate, Optional.empty()).await();
    }

    @Override
    public void handOver(Candidate candidate, Duration timeout) throws InterruptedException {
        begin(candidate, Optional.of(timeout)).await();
    }

    @Override
    public CompletableFuture<Void> handOverAsync(Candidate candidate) {
        return begin(candidate, Optional.empty()).stage();
    }

    @Override
    public CompletableFuture<Void> handOverAsync(Candidate candidate, Duration timeout) {
        return begin(candidate, Optional.of(timeout)).stage();
    }

    private TransferAttempt begin(Candidate candidate, Optional<Duration> timeout) {
        return TransferAttempt.begin(request(), path, Objects.requireNonNull(candidate, "candidate"), timeout);
    }

    @Override
    public String toString() {
        return "Leadership[" + path + ", token " + token + "]";
    }
}
