package io.conclave.locks;

import io.conclave.grant.FencingToken;
import io.conclave.line.AbstractGrant;
import io.conclave.node.NodePath;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** All locks of a multi-lock, held. */
final class HeldMultiLock extends AbstractGrant<MultiLockRequest> implements MultiLockGrant {
    private final Map<NodePath, LockGrant> grants;

    HeldMultiLock(MultiLockRequest request) {
        super(request);
        this.grants = request.grants();
    }

    @Override
    public Map<NodePath, FencingToken> tokens() {
        Map<NodePath, FencingToken> tokens = new LinkedHashMap<>();
        grants.forEach((path, grant) -> tokens.put(path, grant.token()));
        return Collections.unmodifiableMap(tokens);
    }

    @Override
    public LockGrant of(SingleLock lock) {
        LockGrant grant = grants.get(MultiLock.absolutePath((LineLock<?>) lock));
        if (grant == null) {
            throw new IllegalArgumentException("Invalid lock " + lock + ": it is none of " + grants.keySet());
        }
        return grant;
    }

    @Override
    public String toString() {
        return "Held" + request();
    }
}
