package io.conclave.recipe;

import io.conclave.node.NodeEvent;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Multi;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import java.util.List;

/** Translates between the paths of an application and those of the backend: one prefix in front of all. */
record Namespace(NodePath base) {
    /** The request as the backend sees it. */
    <R> Request<R> outward(Request<R> request) {
        return base.isRoot() ? request : Watchers.map(request, this::inward).within(base);
    }

    /** The backend's answer as the application sees it. */
    @SuppressWarnings("unchecked") // each branch answers with a result of its own type
    <R> R inward(R answer) {
        if (base.isRoot()) {
            return answer;
        }
        if (answer instanceof Create.Created created) {
            return (R) new Create.Created(inward(created.path()), created.stat());
        }
        if (answer instanceof List<?> results) {
            return (R) results.stream().map(this::inwardResult).toList();
        }
        return answer;
    }

    private Object inwardResult(Object result) {
        return result instanceof Multi.Result one ? new Multi.Result(one.path().map(this::inward), one.stat()) : result;
    }

    private NodePath inward(NodePath path) {
        String text = path.toString();
        String prefix = base.toString();
        if (text.equals(prefix)) {
            return NodePath.ROOT;
        }
        return text.startsWith(prefix + "/") ? NodePath.of(text.substring(prefix.length())) : path;
    }

    private Watcher inward(Watcher watcher) {
        return new InwardWatcher(this, watcher);
    }

    /** Equal for equal watchers, so that a watch can be removed by the watcher that was set. */
    private record InwardWatcher(Namespace namespace, Watcher watcher) implements Watcher {
        @Override
        public void onEvent(NodeEvent event) {
            watcher.onEvent(new NodeEvent(event.type(), namespace.inward(event.path()), event.zxid()));
        }
    }
}
