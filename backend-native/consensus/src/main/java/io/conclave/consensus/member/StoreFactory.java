package io.conclave.consensus.member;

import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import java.util.function.Consumer;

/** Opens a member's store, on the member's thread. */
@FunctionalInterface
public interface StoreFactory {

    /** @param toMember takes what background work reports, to be run on the member's thread */
    LogStore open(Consumer<Runnable> toMember) throws IOException;
}
