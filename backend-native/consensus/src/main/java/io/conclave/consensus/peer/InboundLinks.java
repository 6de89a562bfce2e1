package io.conclave.consensus.peer;

import io.conclave.consensus.Strangers;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections made to this member, of members and of those that are not known yet: which one is a member's link,
 * and what is counted and logged of those that come to nothing. {@link #strangerCount}, {@link #refusedCount} and
 * {@link #gaveWayCount} may be called from any thread, the rest belongs to the network's.
 */
final class InboundLinks {
    private static final Logger log = LoggerFactory.getLogger(InboundLinks.class);

    private static final int MOST_STRANGERS_OF_AN_ADDRESS = 256;

    private final Set<InboundLink> all = new LinkedHashSet<>();
    /** The link of each member that has one. */
    private final Map<Integer, InboundLink> ofMembers = new HashMap<>();

    private final Strangers<InboundLink> strangers = new Strangers<>(MOST_STRANGERS_OF_AN_ADDRESS);
    private final Complaints complaints = new Complaints();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong gaveWay = new AtomicLong();
    private volatile int strangersNow;

    /** Takes in a new connection; the oldest without a handshake gives way if there are too many. */
    void opened(InboundLink link) {
        all.add(link);
        strangers.add(link, link.remoteHost()).ifPresent(oldest -> {
            gaveWay.incrementAndGet();
            oldest.frames().close("newer connections without a handshake have taken its place");
        });
        strangersNow = strangers.count();
    }

    /**
     * Why a newer link of a member may not take the place of the older one that is still there; empty if it may, since
     * the end of the older may just not have been noticed. An older one whose member is gone ends soon by its silence.
     */
    Optional<String> refusalForOlder(InboundLink newer, PeerFacts from) {
        InboundLink older = ofMembers.get(from.memberId());
        Optional<PeerFacts> known = older == null ? Optional.empty() : older.facts();
        if (older == null || known.isEmpty()) {
            return Optional.empty();
        }
        if (older.isProven() && !newer.isProven()) {
            return Optional.of("member " + from.memberId() + " is linked and has proven that it has the cluster's"
                    + " secret; a caller that has not cannot take its place");
        }
        long before = known.get().directory();
        // an empty directory has joined meanwhile
        return before == 0 || before == from.directory()
                ? Optional.empty()
                : Optional.of("member " + from.memberId() + " is linked with directory "
                        + PeerHandshake.directory(known.get()) + ", the caller has directory "
                        + PeerHandshake.directory(from) + "; it must wait until that link has ended");
    }

    /**
     * The newer link of a member takes the place of the older, whose end may just not have been noticed.
     *
     * @return whether there was an older one
     */
    boolean accepted(InboundLink link, int from) {
        noStranger(link);
        complaints.forget(link.remoteHost() + ' ');
        InboundLink older = ofMembers.put(from, link);
        if (older != null) {
            older.frames().close("member " + from + " has made a newer one");
        }
        return older != null;
    }

    private void noStranger(InboundLink link) {
        strangers.remove(link);
        strangersNow = strangers.count();
    }

    void refused(InboundLink link, String reason) {
        refused.incrementAndGet();
        if (complaints.add(link.remoteHost() + ' ' + reason)) {
            log.warn("a connection from {} is refused: {}", link.remoteHost(), reason);
        }
    }

    /**
     * Forgets a connection that has ended.
     *
     * @return the member that has no link any more by this; empty if it was no member's link, or a newer one had taken
     *     its place
     */
    OptionalInt ended(InboundLink link, String reason) {
        all.remove(link);
        noStranger(link);
        if (link.facts().isEmpty()) {
            if (!link.isSettled() && complaints.add(link.remoteHost() + " stranger")) {
                log.warn("a connection from {} has ended before a handshake: {}", link.remoteHost(), reason);
            }
            return OptionalInt.empty();
        }
        int from = link.facts().get().memberId();
        if (!ofMembers.remove(from, link)) {
            return OptionalInt.empty();
        }
        log.info("the link from member {} at {} has ended: {}", from, link.remoteHost(), reason);
        return OptionalInt.of(from);
    }

    /** The link of the member; empty if there is none. */
    Optional<InboundLink> of(int member) {
        return Optional.ofNullable(ofMembers.get(member));
    }

    /** The links of members as they are now; the list stays when one of them is closed. */
    List<InboundLink> ofMembers() {
        return List.copyOf(ofMembers.values());
    }

    /** All connections as they are now; the list stays when one of them is closed. */
    List<InboundLink> all() {
        return List.copyOf(all);
    }

    /** Half an election timeout has passed. */
    void tick() {
        complaints.tick();
    }

    /** How many connections there are without a handshake. */
    int strangerCount() {
        return strangersNow;
    }

    long refusedCount() {
        return refused.get();
    }

    /** How many connections without a handshake have given way to newer ones. */
    long gaveWayCount() {
        return gaveWay.get();
    }
}
