package io.conclave.recipe;

import io.conclave.request.AddWatch;
import io.conclave.request.Exists;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import io.conclave.request.LinearizableRead;
import io.conclave.request.RemoveWatch;
import io.conclave.request.Request;
import io.conclave.request.Watcher;
import java.util.function.UnaryOperator;

/** Puts something in front of the watcher that a request carries, whichever request it is. */
public final class Watchers {
    private Watchers() {}

    @SuppressWarnings("unchecked") // each branch answers with a request of its own type
    public static <R> Request<R> map(Request<R> request, UnaryOperator<Watcher> wrap) {
        Request<?> mapped = request;
        if (request instanceof Exists exists) {
            mapped = new Exists(exists.path(), exists.watcher().map(wrap));
        } else if (request instanceof GetData get) {
            mapped = new GetData(get.path(), get.watcher().map(wrap));
        } else if (request instanceof GetChildren children) {
            mapped = new GetChildren(children.path(), children.watcher().map(wrap));
        } else if (request instanceof AddWatch add) {
            mapped = new AddWatch(add.path(), add.recursive(), wrap.apply(add.watcher()));
        } else if (request instanceof RemoveWatch remove) {
            mapped = new RemoveWatch(remove.path(), wrap.apply(remove.watcher()));
        } else if (request instanceof LinearizableRead<?> read) {
            mapped = new LinearizableRead<>(map(read.read(), wrap), read.path());
        }
        return (Request<R>) mapped;
    }
}
