package io.conclave.locks;

import io.conclave.coordinator.Coordinator;
import io.conclave.error.ConclaveException;
import io.conclave.line.Contender;
import io.conclave.line.JointEntry;
import io.conclave.recipe.RecipeSession;
import io.conclave.recipe.Waiting;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The locks of a multi-lock that are of one session: their lines are entered in one transaction and left in one.
 *
 * <p>The contenders change on the dispatcher of the multi-lock only. Any thread may read them.
 */
final class LockGroup {
    private final RecipeSession session;
    private final List<LineLock<?>> locks;
    private volatile List<Contender> contenders = List.of(); // in the order of the locks; empty outside the lines

    private LockGroup(RecipeSession session, List<LineLock<?>> locks) {
        this.session = session;
        this.locks = locks;
    }

    /**
     * The locks by their sessions, in their order.
     *
     * @param sessionOfFirst the session of the first lock's coordinator: asked again it might have the next one
     */
    static List<LockGroup> of(List<LineLock<?>> locks, RecipeSession sessionOfFirst) {
        IdentityHashMap<Coordinator, RecipeSession> sessions = new IdentityHashMap<>();
        sessions.put(locks.get(0).line().coordinator(), sessionOfFirst);
        Map<RecipeSession, List<LineLock<?>>> bySession = new LinkedHashMap<>();
        for (LineLock<?> lock : locks) {
            RecipeSession session = sessions.computeIfAbsent(
                    lock.line().coordinator(), one -> lock.line().session());
            bySession.computeIfAbsent(session, one -> new ArrayList<>()).add(lock);
        }
        List<LockGroup> groups = new ArrayList<>();
        bySession.forEach((session, some) -> groups.add(new LockGroup(session, some)));
        return groups;
    }

    /** Enters the lines, with new contenders. */
    void enter(boolean patient) {
        contenders =
                JointEntry.enter(session, locks.stream().map(LineLock::part).toList(), patient);
    }

    /** Leaves the lines. Completes when nothing is left there. */
    CompletableFuture<?> leave(ConclaveException why) {
        List<Contender> leaving = contenders;
        contenders = List.of();
        session.execute(() -> JointEntry.leave(leaving, why));
        return Waiting.all(leaving.stream().map(Contender::gone));
    }

    boolean isEntered() {
        return !contenders.isEmpty();
    }

    List<Contender> contenders() {
        return contenders;
    }

    RecipeSession session() {
        return session;
    }

    List<LineLock<?>> locks() {
        return locks;
    }
}
