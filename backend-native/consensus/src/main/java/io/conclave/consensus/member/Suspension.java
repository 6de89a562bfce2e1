package io.conclave.consensus.member;

import io.conclave.consensus.core.Core;
import io.conclave.consensus.core.PeerMessage;
import io.conclave.consensus.core.PeerMessage.Greeting;
import io.conclave.consensus.core.WrongDiskException;
import io.conclave.consensus.disk.DiskFullException;
import io.conclave.consensus.entry.DiskClaim;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.consensus.entry.Start;
import io.conclave.consensus.store.LogStore;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member of which another one claims that its disk was set back says and serves nothing from then on, also after a
 * restart. It gives its log up once a majority of the other voters has confirmed the claim, on links made after it
 * stopped, and has all that this log may have committed: see docs/decisions/0033.
 */
final class Suspension {
    private static final Logger log = LoggerFactory.getLogger(Suspension.class);

    private final int self;
    private final Core core;
    private final LogApplier applier;
    private final Start start;
    private final Greetings greetings;
    private final LogStore store;
    private final PeerLinks links;
    private final Set<Integer> listed;
    private final long retryMs;

    /** What is to be settled; null if there is nothing. */
    private @Nullable DiskClaim claim;

    /** The members that have confirmed it and know of no other configuration than the one that is committed here. */
    private final Set<Integer> voters = new TreeSet<>();

    /** Those that have confirmed it and know a later configuration, so that this member cannot tell what they are. */
    private final Set<Integer> later = new TreeSet<>();

    /** Whether it is durable. */
    private boolean kept;

    private long askDueMs;

    /** Whether links from others were made after this member stopped: what is said on earlier ones does not count. */
    private boolean asked;

    /** @param listed the members that the operator lists: this one's configuration may be from before they joined */
    Suspension(
            int self,
            Core core,
            LogApplier applier,
            Start start,
            Greetings greetings,
            LogStore store,
            PeerLinks links,
            Set<Integer> listed,
            long retryMs) {
        this.self = self;
        this.core = core;
        this.applier = applier;
        this.start = start;
        this.greetings = greetings;
        this.store = store;
        this.links = links;
        this.listed = listed;
        this.retryMs = retryMs;
    }

    /** Goes on with what an earlier start left. */
    void recover() throws IOException {
        Optional<DiskClaim> earlier = store.claim();
        if (earlier.isPresent()) {
            claim = earlier.get();
            asked = true;
            kept = true;
            core.suspend();
            log.error("member {} takes no part: {}", self, reason());
        }
    }

    /** Whether this member may not say or serve anything. */
    boolean isOn() {
        return claim != null && !core.takesPartSuspected();
    }

    /**
     * Another member claims that this one's disk was set back.
     *
     * @throws WrongDiskException if that is to be believed at once
     */
    void claimed(WrongDiskException said) throws IOException {
        if (!said.isOutvoted()) {
            throw said;
        }
        if (claim == null) {
            DiskClaim made = new DiskClaim(start, said.committedIndex(), String.valueOf(said.getMessage()));
            claim = made;
            core.suspend();
            log.error("member {} takes no part from now on: {}", self, reason());
            keep(made);
        }
        decide();
    }

    /** So that a restart forgets nothing; tried again as long as there is no room. */
    private void keep(DiskClaim made) throws IOException {
        try {
            store.suspect(made);
            kept = true;
        } catch (DiskFullException e) {
            log.warn("there is no room to write down why member {} takes no part", self, e);
        }
    }

    /**
     * A message has come while this member takes no part; only a greeting means something.
     *
     * @param directory what the sender shows
     * @throws WrongDiskException if enough members have confirmed the claim
     */
    void arrived(int from, long directory, PeerMessage message) throws IOException {
        DiskClaim present = claim;
        if (present == null || !(message instanceof Greeting greeting)) {
            return;
        }
        boolean knowsLater = greeting.configurationIndex() > applier.configurationIndex();
        // another directory has taken this one's place since, or the member was removed
        boolean isForgotten = knowsLater && greeting.known().equals(Start.NONE);
        boolean confirms = isForgotten || (present.index() > 0 && greeting.commitIndex() >= present.index());
        try {
            greetings.from(from, greeting, present.start());
        } catch (WrongDiskException e) {
            claimed(e);
            confirms = true;
        }
        if (asked && confirms && core.isCoveredBy(greeting.commitTerm(), greeting.commitIndex())) {
            EnsembleMember configured = applier.configuration().members().get(from);
            if (knowsLater) {
                if (configured != null || listed.contains(from)) { // a stranger could say any number
                    later.add(from);
                }
            } else if (configured != null && configured.directory() == directory) {
                voters.add(from);
            }
        }
        decide();
    }

    private void decide() {
        DiskClaim present = claim;
        if (present != null && core.mayGiveUpLog(applier.configuration(), voters, later)) {
            throw new WrongDiskException(present.text(), true, present.index());
        }
    }

    /** What the member said on its last link does not count any more. */
    void inboundLost(int from) {
        voters.remove(from);
        later.remove(from);
    }

    /** Has the members that have not confirmed it make their links anew, since they greet on new links only. */
    void look(long nowMs) throws IOException {
        DiskClaim present = claim;
        if (present != null && nowMs >= askDueMs) {
            if (!kept) {
                keep(present);
            }
            askDueMs = nowMs + retryMs;
            asked = true;
            Set<Integer> others = new TreeSet<>(listed);
            others.addAll(applier.configuration().members().keySet());
            for (int member : others) {
                if (member != self && !voters.contains(member) && !later.contains(member)) {
                    links.disconnect(member, "what it knows of this member's disk is asked for again");
                }
            }
        }
    }

    long nextLookMs() {
        return askDueMs;
    }

    /** Why this member takes no part, in one sentence. */
    String reason() {
        DiskClaim present = claim;
        if (present == null) {
            return "";
        }
        Set<Integer> confirmed = new TreeSet<>(voters);
        confirmed.addAll(later);
        return "this server takes no part, since its disk is said to have been set back: " + present.text()
                + ". It sets its log aside once a majority of the voters, without itself, has confirmed that"
                + (confirmed.isEmpty() ? "" : " (" + confirmed + " have)")
                + "; if that does not come: set-aside if the others serve, trust-log if the claim is wrong,"
                + " force-new-cluster if no majority is left";
    }
}
