package io.conclave.tree;

import java.util.List;

/**
 * What applying a change yields.
 *
 * @param state the state after it; of the state before nothing has changed
 * @param zxid the change's number, the new state's last
 * @param result the answer to its proposer
 * @param events what watchers may want to hear of, in the order in which they must hear it
 */
public record Applied(TreeState state, long zxid, Result result, List<TreeEvent> events) {}
