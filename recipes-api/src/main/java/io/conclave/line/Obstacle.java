package io.conclave.line;

import io.conclave.error.AcquireTimeoutException;
import io.conclave.error.Holder;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import io.conclave.request.GetChildren;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What keeps a contender from its turn, for the message of a wait that ends in vain: as the line was last seen, or as
 * it is looked up when the time is running out.
 *
 * <p>What is seen belongs to the dispatcher; the messages are for any thread.
 */
final class Obstacle {
    private static final int LONGEST_TEXT = 200;

    private final Contender contender;
    private final RecipeSession session;
    private final NodePath line;
    private volatile Seen seen = new Seen(0, Optional.empty()); // written on the dispatcher only

    /**
     * What was seen.
     *
     * @param before how many stand before the contender in the line; 0 if the line has not been read
     * @param holder the one at the head of the line, if it was read
     */
    private record Seen(int before, Optional<Holder> holder) {
        String inTheWay() {
            if (before == 0) {
                return "the store has not answered yet";
            }
            String who = holder.map(one -> "it is held by " + one).orElse("it is held by another");
            return before == 1 ? who : who + ", and " + (before - 1) + " more stand before this one in the line";
        }
    }

    Obstacle(Contender contender) {
        this.contender = contender;
        this.session = contender.session();
        this.line = contender.line();
    }

    /** The line was read. */
    void lineRead(int before) {
        seen = new Seen(before, Optional.empty());
    }

    /** The predecessor was read. */
    void predecessorRead(NodePath path, GetData.NodeData node) {
        if (seen.before == 1) { // then the predecessor holds
            headRead(1, path, node);
        } else if (contender.measurements().progress().isHeard()) {
            Holder other = holder(path, node);
            tell("behind " + other + ", with " + (seen.before - 1) + " more before this one in the line", other);
        }
    }

    private void tell(String obstacle, Holder other) {
        if (contender.isWaiting()) {
            contender.measurements().progress().waitsFor(obstacle, Optional.of(other));
        }
    }

    /** Reads the head of the line, unless it is known: it holds what is waited for. */
    void findHolder() {
        if (!contender.isWaiting() || seen.holder.isPresent()) {
            return;
        }
        session.send(
                GetChildren.of(line),
                children -> {
                    List<LineEntry> entries = LineEntry.inOrder(contender.role().line(), children.names());
                    int before = contender
                            .ownNode()
                            .znode()
                            .map(ours -> entries.indexOf(ours.entry()))
                            .orElse(0);
                    if (before > 0) {
                        readHead(before, line.child(entries.get(0).name()));
                    }
                },
                cause -> {}); // then it is not known
    }

    private void readHead(int before, NodePath head) {
        session.send(GetData.of(head), node -> headRead(before, head, node), cause -> {}); // it has just gone
    }

    private void headRead(int before, NodePath head, GetData.NodeData node) {
        Holder holder = holder(head, node);
        seen = new Seen(before, Optional.of(holder));
        if (contender.measurements().progress().isHeard()) {
            tell("held by " + holder, holder);
        }
    }

    private static Holder holder(NodePath path, GetData.NodeData node) {
        String text = new String(node.data(), StandardCharsets.UTF_8);
        return new Holder(
                path.toString(),
                text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) : text,
                node.stat().ephemeralOwner());
    }

    AcquireTimeoutException timedOut(Duration waited) {
        return new AcquireTimeoutException(
                line.toString(),
                waited,
                seen.holder,
                line + " was not granted within " + Waiting.text(waited) + ": " + whyNotGranted());
    }

    String whyNotGranted() {
        return session.unlessConnected(seen.inTheWay());
    }
}
