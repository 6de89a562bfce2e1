package io.conclave.connection;

import io.conclave.tree.SessionPassword;
import io.conclave.tree.Znode;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Chooses ids and passwords of new sessions. The member is in the highest byte of an id, as ZooKeeper has it; the rest
 * counts up from a place that is drawn at the start, so that starts of one server do not use the same ids. Not from its
 * wall clock, as ZooKeeper's: after a clock was set back, ids of ended sessions came back. From any thread.
 */
public final class SessionIds {
    private static final int MEMBER_SHIFT = 56;
    private static final long COUNT_MASK = (1L << MEMBER_SHIFT) - 1;

    private final long member;
    private final AtomicLong next;
    private final Random random;

    /**
     * The ids of one start of a server.
     *
     * @param memberId the member's number, 0 to 255
     */
    public SessionIds(int memberId) {
        this(memberId, new SecureRandom());
    }

    /**
     * As above, with ids and passwords that follow from the source.
     *
     * @param random thread-safe if the ids are used by several; another one at each start
     */
    public SessionIds(int memberId, Random random) {
        this.random = random;
        this.member = (long) memberId << MEMBER_SHIFT;
        this.next = new AtomicLong(firstOf(member, random));
    }

    /** Not among those of member 255 that stand for nodes with a time to live: they come all in a row. */
    private static long firstOf(long member, Random random) {
        long first = random.nextLong();
        while (!Znode.canBeSession(member | (first & COUNT_MASK))) {
            first = random.nextLong();
        }
        return first;
    }

    long nextId() {
        long id = member | (next.getAndIncrement() & COUNT_MASK);
        while (!Znode.canBeSession(id)) {
            id = member | (next.getAndIncrement() & COUNT_MASK);
        }
        return id;
    }

    SessionPassword nextPassword() {
        byte[] bytes = new byte[SessionPassword.BYTES];
        random.nextBytes(bytes);
        return SessionPassword.of(bytes);
    }
}
