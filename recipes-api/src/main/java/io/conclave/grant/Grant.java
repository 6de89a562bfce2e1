package io.conclave.grant;

/**
 * Something exclusive or shared that was given to its owner for as long as his session lives: a lock, leadership, membership.
 *
 * <p>A grant belongs to no thread; everything here may be called from anywhere. After {@link #lost()} it never comes back.
 */
public interface Grant extends Tenure {
    /** The token that a guarded store compares; larger than that of every earlier exclusive grant of the same resource. Never blocks. */
    FencingToken token();
}
