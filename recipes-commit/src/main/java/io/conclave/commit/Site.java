package io.conclave.commit;

/**
 * A site that takes part in transactions, until it is closed or its coordinator is. After a lost session it joins again
 * by itself, and finishes what is in doubt.
 */
public interface Site extends AutoCloseable {
    /** The site's name. */
    String name();

    /**
     * Takes part no longer. What was begun and not voted on will be aborted by the others; what was voted on stays in
     * doubt until a process joins under the name of this site. Never blocks; idempotent. A call of the participant that
     * is under way is not interrupted.
     */
    @Override
    void close();
}
