package io.conclave.spring.boot;

import io.conclave.error.LossReason;
import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEvent;

/**
 * This application leads an election no more, or gives the leadership up now because it stops. No {@link LeaderOnly}
 * method begins from now on; those that run are interrupted, but for the one that has given the leadership up itself.
 * Published on a thread of the election, which is not interrupted: a listener may block, and the next campaign waits
 * for it.
 */
public final class LeadershipRevokedEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    private final transient NodePath path;
    private final transient FencingToken token;
    private final @Nullable LossReason reason;

    LeadershipRevokedEvent(Object source, NodePath path, FencingToken token, @Nullable LossReason reason) {
        super(source);
        this.path = path;
        this.token = token;
        this.reason = reason;
    }

    /** The election's znode, in the coordinator's namespace. */
    public NodePath getPath() {
        return path;
    }

    /** The fencing token of the leadership that ends. */
    public FencingToken getToken() {
        return token;
    }

    /** Why it was lost; empty if it is given up. */
    public Optional<LossReason> getReason() {
        return Optional.ofNullable(reason);
    }
}
