package io.conclave.consensus.core;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Members that a configuration in the leader's log has dropped, and that may not know it. They are sent what members
 * are sent, so that they learn that they were removed, and are counted nowhere. Each goes when its link breaks, and an
 * election timeout after the configuration without it is committed.
 */
final class PartingMembers {
    private static final class Parting {
        final PeerProgress progress;

        /** Not known before the configuration is committed. */
        long untilMs = Long.MAX_VALUE;

        Parting(PeerProgress progress) {
            this.progress = progress;
        }
    }

    private final Map<Integer, Parting> byMember = new TreeMap<>();

    boolean contains(int member) {
        return byMember.containsKey(member);
    }

    void add(int member, PeerProgress progress) {
        byMember.put(member, new Parting(progress));
    }

    /** They are members again, if they were not before. */
    void joined(Collection<Integer> members) {
        byMember.keySet().removeAll(members);
    }

    /** The latest configuration is committed. */
    void configurationCommitted(long untilMs) {
        byMember.values().forEach(parting -> parting.untilMs = Math.min(parting.untilMs, untilMs));
    }

    void tick(long nowMs) {
        byMember.values().removeIf(parting -> nowMs >= parting.untilMs);
    }

    void linkChanged(int member) {
        byMember.remove(member);
    }

    /** Null for one that is not parting. */
    @Nullable
    PeerProgress find(int member) {
        Parting parting = byMember.get(member);
        return parting == null ? null : parting.progress;
    }

    /** As {@link Followers#oldestSentMs}, of these. */
    long oldestSentMs() {
        long oldestMs = Long.MAX_VALUE;
        for (Parting parting : byMember.values()) {
            oldestMs = Math.min(oldestMs, parting.progress.sentMs);
        }
        return oldestMs;
    }

    void forEach(BiConsumer<Integer, PeerProgress> action) {
        byMember.forEach((member, parting) -> action.accept(member, parting.progress));
    }
}
