package io.conclave.proofs.ensemble;

import io.conclave.proofs.ensemble.Member.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Several server processes that behave like one, of either kind. Closing it ends the processes. Used by one thread at a
 * time.
 */
public final class Ensemble implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PROBE = Duration.ofMillis(50);

    private final EnsembleKind kind;
    private final PeerNetwork network;
    private final List<Member> members;
    private final List<Member> spares;

    Ensemble(EnsembleKind kind, PeerNetwork network, List<Member> members, List<Member> spares) {
        this.kind = kind;
        this.network = network;
        this.members = List.copyOf(members);
        this.spares = List.copyOf(spares);
    }

    /** An ensemble of three that keeps all its files under a directory; the builder starts it. */
    public static EnsembleBuilder of(EnsembleKind kind, Path home) {
        return new EnsembleBuilder(kind, home);
    }

    /** Whose servers these are. */
    public EnsembleKind kind() {
        return kind;
    }

    /** All of them, whether they run or not. */
    public List<Member> members() {
        return members;
    }

    /**
     * Those that the others do not know at first; see {@link EnsembleBuilder#spares}. They have no part in what is done
     * to all members.
     */
    public List<Member> spares() {
        return spares;
    }

    /** By its number, from 1. */
    public Member member(int number) {
        return members.get(number - 1);
    }

    /** What clients of ZooKeeper call a connect string, with all members. */
    public String hostPorts() {
        return members.stream().map(Member::hostPort).collect(Collectors.joining(","));
    }

    /** The connect string for our client, with all members. */
    public String connectString() {
        return kind.scheme() + "://" + hostPorts();
    }

    /** The connect string for our client, with this member only. */
    public String connectString(Member member) {
        return kind.scheme() + "://" + member.hostPort();
    }

    /**
     * The leader, by what the members say; empty if none does, or (for a moment) two do. Blocks for up to a few seconds
     * if some do not answer.
     */
    public Optional<Member> leader() {
        List<Member> leaders =
                members.stream().filter(member -> member.mode() == Mode.LEADER).toList();
        return leaders.size() == 1 ? Optional.of(leaders.get(0)) : Optional.empty();
    }

    /** Waits until one leads. */
    public Member awaitLeader() {
        return await("a leader", this::leader);
    }

    /** Waits until one leads and all others follow it; all must run. */
    public Member awaitAllServing() {
        return await("all members to serve", () -> {
            List<Mode> modes = members.stream().map(Member::mode).toList();
            return modes.contains(Mode.NOT_SERVING)
                            || modes.stream().filter(Mode.LEADER::equals).count() != 1
                    ? Optional.empty()
                    : Optional.of(members.get(modes.indexOf(Mode.LEADER)));
        });
    }

    private Member await(String what, java.util.concurrent.Callable<Optional<Member>> found) {
        try {
            return Awaitility.await()
                    .atMost(PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(PROBE)
                    .until(found, Optional::isPresent)
                    .orElseThrow();
        } catch (ConditionTimeoutException e) {
            throw new IllegalStateException("waited " + PATIENCE + " in vain for " + what + ":\n" + describe(), e);
        }
    }

    /** How often a member says in its log that it has begun to lead, since its last start; of Conclave's servers. */
    public long elections() {
        return Stream.concat(members.stream(), spares.stream())
                .flatMap(member -> member.log().lines())
                .filter(line -> line.contains("Leading in term"))
                .count();
    }

    /** Those that do not lead. */
    public List<Member> others(Member leader) {
        return members.stream().filter(member -> member != leader).toList();
    }

    /** Nothing that one sends arrives at the other any more, until {@link #mend}; the other way goes on. */
    public void cut(Member from, Member to) {
        network.cut(from.number(), to.number());
    }

    /** Cuts both ways between a member and all others. Its clients still reach it. */
    public void isolate(Member member) {
        for (Member other : others(member)) {
            cut(member, other);
            cut(other, member);
        }
    }

    /** What one sends arrives at the other so much later; false if this network cannot delay. */
    public boolean delay(Member from, Member to, Duration delay) {
        return network.delay(from.number(), to.number(), delay);
    }

    /** Ends every cut and delay. */
    public void mend() {
        for (Member from : members) {
            for (Member to : others(from)) {
                network.mend(from.number(), to.number());
                network.delay(from.number(), to.number(), Duration.ZERO);
            }
        }
    }

    /**
     * Ends every fault: links are mended, stopped members go on, dead ones are started; returns the leader when all
     * serve.
     */
    public Member heal() {
        mend();
        for (Member member : members) {
            if (member.isPaused()) {
                member.resume();
            }
            if (!member.isAlive()) {
                member.start();
            }
        }
        return awaitAllServing();
    }

    /** How each member is and the end of its log, for a report of why something did not happen. */
    public String describe() {
        return members.stream()
                .map(member -> member + (member.isAlive() ? "" : " (dead)") + (member.isPaused() ? " (stopped)" : "")
                        + ", " + member.mode() + "\n" + lastLines(member.log()))
                .collect(Collectors.joining("\n"));
    }

    private static String lastLines(String log) {
        List<String> lines = log.lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 25), lines.size()));
    }

    @Override
    public void close() {
        members.forEach(Member::end);
        spares.forEach(Member::end);
        network.close();
    }

    @Override
    public String toString() {
        return kind + " with " + members.size() + " servers";
    }
}
