package io.conclave.spring.boot;

import io.conclave.grant.FencingToken;
import io.conclave.node.NodePath;
import org.springframework.context.ApplicationEvent;

/**
 * This application leads an election from now on. Published on a thread of the election; {@link LeaderOnly} methods run
 * when all listeners have returned.
 */
public final class LeadershipGrantedEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    private final transient NodePath path;
    private final transient FencingToken token;

    LeadershipGrantedEvent(Object source, NodePath path, FencingToken token) {
        super(source);
        this.path = path;
        this.token = token;
    }

    /** The election's znode, in the coordinator's namespace. */
    public NodePath getPath() {
        return path;
    }

    /** The fencing token of the leadership. */
    public FencingToken getToken() {
        return token;
    }
}
