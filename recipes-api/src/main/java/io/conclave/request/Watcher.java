package io.conclave.request;

import io.conclave.node.NodeEvent;

/**
 * Receives the events of a watch. To set the same object again is no second watch; a method reference makes a new
 * object each time, so keep it in a field.
 */
@FunctionalInterface
public interface Watcher {
    /**
     * Called once for a one-shot watch, for every event of a persistent one. Called on the session's dispatcher, in
     * order with the completions of requests: an event is seen before any state that came after it. Must not block. A
     * watch ends silently with its session.
     */
    void onEvent(NodeEvent event);
}
