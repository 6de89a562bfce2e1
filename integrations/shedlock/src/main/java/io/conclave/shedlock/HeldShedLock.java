package io.conclave.shedlock;

import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** A lock that a provider has given, until it is unlocked or extended. */
final class HeldShedLock extends AbstractSimpleLock {
    private final ConclaveLockProvider provider;
    private final String owner;

    /** @param owner the guid of the call that took it */
    HeldShedLock(ConclaveLockProvider provider, LockConfiguration configuration, String owner) {
        super(configuration);
        this.provider = provider;
        this.owner = owner;
    }

    @Override
    protected void doUnlock() {
        provider.unlock(lockConfiguration, owner);
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration newConfiguration) {
        return provider.extend(newConfiguration, owner).map(extended -> new HeldShedLock(provider, extended, owner));
    }

    @Override
    public String toString() {
        return "Lock " + lockConfiguration.getName() + " of " + provider;
    }
}
