package io.conclave.line;

import io.conclave.error.GrantLostException;
import io.conclave.grant.FencedGrant;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import java.util.concurrent.CompletionStage;

/** The grant of the head of a line; the recipes' grants extend it. */
public class LineGrant extends AbstractGrant<Contender> implements FencedGrant {
    private final FencingToken token;

    /** Wraps a contender that has been granted. */
    protected LineGrant(Contender contender) {
        super(contender);
        this.token = contender.token();
    }

    @Override
    public final FencingToken token() {
        return token;
    }

    @Override
    public final NodePath path() {
        return contender().path().orElseThrow();
    }

    @Override
    public final NodePath absolutePath() {
        return contender().session().absolute(path());
    }

    /**
     * Gives this grant up for one of another role in the same place; see {@link Downgrade#of}. From the call on this
     * grant is not held; if the backend refuses it, it is held again as before.
     *
     * @return completes on the dispatcher
     * @throws GrantLostException if it is not held now
     */
    protected final CompletionStage<Contender> goOnAs(LineRole role) {
        ensureHeld();
        if (!beginGivingUp()) {
            throw lostException();
        }
        return Downgrade.of(contender(), role).whenComplete((successor, failure) -> endGivingUp());
    }

    /** The contender behind the grant, for the recipe. */
    protected final Contender contender() {
        return request();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "["
                + contender().path().map(Object::toString).orElse("?") + ", token " + token + "]";
    }
}
