package io.conclave.line;

import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import io.conclave.request.GetChildren;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lists of lines that the contenders of one session ask for. A few go out at once. If more contenders of a line ask
 * while these are on their way, they share the next list: else 10,000 waiters of one process would read 10,000 times a
 * list of up to 10,000 places.
 *
 * <p>A contender only ever gets a list that was asked for at its call or later, as if it had asked alone. State belongs
 * to the session's dispatcher.
 */
final class SharedLooks {
    private static final Logger LOG = LoggerFactory.getLogger(SharedLooks.class);

    /** So many lists of a line are on their way before contenders share. */
    private static final int MAX_AT_ONCE = 4;

    private final RecipeSession session;
    private final Map<Key, Looks> byLine = new HashMap<>();

    private record Key(NodePath line, Set<EntryKind> kinds) {}

    /** Who asked, and waits for an answer. */
    private record Looker(Consumer<Line> onLine, Consumer<Throwable> onFailure) {}

    /** What was asked about one line. */
    private static final class Looks {
        private int onTheirWay;
        private List<Looker> next = new ArrayList<>();
    }

    /** A line as it was read, first to last. */
    static final class Line {
        private final List<LineEntry> entries;
        private final Map<LineEntry, Integer> positions;

        Line(List<LineEntry> entries, boolean isShared) {
            this.entries = List.copyOf(entries);
            this.positions = new HashMap<>();
            if (isShared) {
                for (int i = 0; i < this.entries.size(); i++) {
                    positions.put(this.entries.get(i), i);
                }
            }
        }

        /** The places before an entry; empty if it is not in the line. */
        Optional<List<LineEntry>> before(LineEntry entry) {
            int position = positions.isEmpty() ? entries.indexOf(entry) : positions.getOrDefault(entry, -1);
            return position < 0 ? Optional.empty() : Optional.of(entries.subList(0, position));
        }
    }

    private SharedLooks(RecipeSession session) {
        this.session = session;
    }

    /** Those of a session. */
    static SharedLooks of(RecipeSession session) {
        return session.keep(SharedLooks.class, () -> new SharedLooks(session));
    }

    /** Reads a line. Both callbacks run on the dispatcher. */
    void look(NodePath line, Set<EntryKind> kinds, Consumer<Line> onLine, Consumer<Throwable> onFailure) {
        Key key = new Key(line, kinds);
        Looks looks = byLine.computeIfAbsent(key, first -> new Looks());
        Looker looker = new Looker(onLine, onFailure);
        if (looks.onTheirWay < MAX_AT_ONCE) {
            send(key, looks, List.of(looker));
        } else {
            looks.next.add(looker);
        }
    }

    private void send(Key key, Looks looks, List<Looker> lookers) {
        looks.onTheirWay++;
        session.send(
                GetChildren.of(key.line),
                children -> {
                    answered(key, looks);
                    Line read = new Line(LineEntry.inOrder(key.kinds, children.names()), lookers.size() > 1);
                    lookers.forEach(looker -> tell(() -> looker.onLine.accept(read)));
                },
                cause -> {
                    answered(key, looks);
                    lookers.forEach(looker -> tell(() -> looker.onFailure.accept(cause)));
                });
    }

    /** One contender's failure must not keep the others from their answer. */
    private static void tell(Runnable answer) {
        try {
            answer.run();
        } catch (RuntimeException | Error e) {
            LOG.error("A contender failed at what it read of its line", e);
        }
    }

    /** Before the answer is used: what it leads to asks anew. */
    private void answered(Key key, Looks looks) {
        looks.onTheirWay--;
        if (!looks.next.isEmpty()) {
            List<Looker> sharing = looks.next;
            looks.next = new ArrayList<>();
            send(key, looks, sharing);
        } else if (looks.onTheirWay == 0) {
            byLine.remove(key, looks);
        }
    }
}
