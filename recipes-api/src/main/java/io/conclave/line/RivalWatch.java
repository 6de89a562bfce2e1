package io.conclave.line;

import io.conclave.node.NodeEvent;
import io.conclave.request.GetChildren;
import io.conclave.request.Watcher;
import java.util.List;

/**
 * Tells a holder when another contender stands in its line, so that it may give way. The holder alone watches the line,
 * and it does so until it has told: no herd. Others in the line need not know of it.
 *
 * <p>What if the watch's event is lost with its connection? A one-shot watch survives that, and reports what it missed.
 * What if the line cannot be read? Then it tells too: a holder that cannot see others does not keep them waiting.
 *
 * <p>The watch is not taken back when the holder goes: the deletion of its znode makes it fire. State belongs to the
 * dispatcher.
 */
public final class RivalWatch {
    private final Contender holder;
    private final Runnable onRival;
    private final Watcher watcher = this::onEvent;
    private boolean told;

    private RivalWatch(Contender holder, Runnable onRival) {
        this.holder = holder;
        this.onRival = onRival;
    }

    /**
     * Watches the line of a contender that was granted. Never blocks; any thread.
     *
     * @param onRival called once, on the dispatcher, when another contender was seen; not if the holder goes before
     */
    public static void begin(Contender holder, Runnable onRival) {
        RivalWatch watch = new RivalWatch(holder, onRival);
        holder.session().execute(() -> holder.guarded(watch::look));
    }

    private void look() {
        if (told || !holder.isHeld()) {
            return;
        }
        holder.read(
                GetChildren.of(holder.line()).withWatcher(watcher),
                children -> seen(children.names()),
                cause -> tell());
    }

    private void onEvent(NodeEvent event) {
        holder.guarded(this::look);
    }

    private void seen(List<String> names) {
        boolean isAlone =
                LineEntry.inOrder(holder.role().line(), names).stream().allMatch(entry -> entry.isOf(holder.guid()));
        if (!isAlone) {
            tell();
        }
    }

    private void tell() {
        if (!told && holder.isHeld()) {
            told = true;
            onRival.run();
        }
    }
}
