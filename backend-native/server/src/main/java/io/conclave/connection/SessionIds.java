package io.conclave.connection;

import io.conclave.tree.SessionPassword;
import java.security.SecureRandom;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Chooses ids and passwords of new sessions. The ids are ZooKeeper's: the member in the highest byte, then the wall
 * clock of the start in ms and 16 bits to count in, so that lives of one server do not meet. From any thread.
 */
public final class SessionIds {
    private final AtomicLong next;
    private final Random random;

    /**
     * The ids of one life of a server.
     *
     * @param memberId the member's number, 0 to 255
     * @param wallMillis the wall clock at the start
     */
    public SessionIds(int memberId, long wallMillis) {
        this(memberId, wallMillis, new SecureRandom());
    }

    /**
     * As above, with passwords that whoever knows the source can tell.
     *
     * @param random thread-safe if the ids are used by several
     */
    public SessionIds(int memberId, long wallMillis, Random random) {
        this.random = random;
        next = new AtomicLong(((long) memberId << 56) | ((wallMillis << 24) >>> 8));
    }

    long nextId() {
        long id = next.getAndIncrement();
        return id == 0 ? next.getAndIncrement() : id;
    }

    SessionPassword nextPassword() {
        byte[] bytes = new byte[SessionPassword.BYTES];
        random.nextBytes(bytes);
        return SessionPassword.of(bytes);
    }
}
