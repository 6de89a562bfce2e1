package io.conclave.locks;

import io.conclave.node.Bytes;
import io.conclave.node.NodePath;
import io.conclave.recipe.RecipeSession;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The kept places of one session; one for each lock that is in use. Any thread. */
final class KeptPlaces {
    private final RecipeSession session;
    private final ConcurrentMap<Key, KeptPlace> places = new ConcurrentHashMap<>();

    /** What locks have in common that share a place. */
    record Key(NodePath path, LockLayout layout, Bytes data, Keeping keeping) {
        static Key of(LockLine line, Keeping keeping) {
            return new Key(line.path(), line.layout(), Bytes.copyOf(line.data()), keeping);
        }
    }

    private KeptPlaces(RecipeSession session) {
        this.session = session;
    }

    static KeptPlaces of(RecipeSession session) {
        return session.keep(KeptPlaces.class, () -> new KeptPlaces(session));
    }

    /** Joins those of this session who want the lock. Never blocks. */
    KeptRequest enter(LockLine line, Key key, boolean patient) {
        while (true) {
            KeptPlace place = places.computeIfAbsent(
                    key, first -> new KeptPlace(session, line, key.keeping(), ended -> places.remove(key, ended)));
            KeptRequest request = new KeptRequest(place, patient);
            if (place.join(request)) {
                return request;
            }
            places.remove(key, place); // it has ended, and may not have said so yet
        }
    }
}
