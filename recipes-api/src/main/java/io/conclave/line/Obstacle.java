package io.conclave.line;

import io.conclave.error.Holder;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What keeps a contender from its turn, as it was last seen.
 *
 * @param before how many stand before it in the line; 0 if the line has not been read
 * @param holder the one at the head of the line, if it was read
 */
record Obstacle(int before, Optional<Holder> holder) {
    private static final int LONGEST_TEXT = 200;

    /** Nothing is known. */
    static final Obstacle UNKNOWN = new Obstacle(0, Optional.empty());

    /** The head of the line as its znode shows it. */
    static Holder holder(NodePath path, GetData.NodeData node) {
        String text = new String(node.data(), StandardCharsets.UTF_8);
        return new Holder(
                path.toString(),
                text.length() > LONGEST_TEXT ? text.substring(0, LONGEST_TEXT) : text,
                node.stat().ephemeralOwner());
    }

    Obstacle withHolder(Holder newHolder) {
        return new Obstacle(before, Optional.of(newHolder));
    }

    /** For messages. */
    @Override
    public String toString() {
        if (before == 0) {
            return "the store has not answered yet";
        }
        String who = holder.map(one -> "it is held by " + one).orElse("it is held by another");
        return before == 1 ? who : who + ", and " + (before - 1) + " more stand before this one in the line";
    }
}
