package io.conclave.line;

import io.conclave.grant.FencingToken;
import io.conclave.grant.Grant;

/** The grant of the head of a line; the recipes' grants extend it. */
public class LineGrant extends HeldTenure<Contender> implements Grant {
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

    /** The contender behind the grant, for the recipe. */
    protected final Contender contender() {
        return tenant();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + "["
                + contender().path().map(Object::toString).orElse("?") + ", token " + token + "]";
    }
}
