package io.conclave.membership;

import io.conclave.cache.CachedNode;
import io.conclave.grant.FencingToken;
import io.conclave.node.DataCodec;
import io.conclave.node.NodeStat;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * A member of a group as others see it. Immutable.
 *
 * @param <P> the type of the payload
 */
public final class Member<P> {
    private final String id;
    private final NodeStat stat;
    private final FencingToken token;
    private final Supplier<P> payload;

    private Member(String id, NodeStat stat, FencingToken token, Supplier<P> payload) {
        this.id = id;
        this.stat = stat;
        this.token = token;
        this.payload = payload;
    }

    static <P> Member<P> of(CachedNode node, DataCodec<P> codec, long generation) {
        NodeStat stat = node.stat();
        Supplier<P> payload;
        try {
            P value = Objects.requireNonNull(codec.decode(node.data()), "it makes nothing of it");
            payload = () -> value;
        } catch (Throwable e) { // Kotlin and Scala code may throw anything: it is still a member
            payload = () -> {
                throw new IllegalArgumentException(
                        "Invalid payload of " + node + ", the codec does not understand it: " + e.getMessage(), e);
            };
        }
        return new Member<>(node.path().name(), stat, new FencingToken(generation, stat.czxid()), payload);
    }

    /** What it is called in the group. */
    public String id() {
        return id;
    }

    /**
     * What it tells of itself.
     *
     * @throws IllegalArgumentException if the group's codec did not understand it
     */
    public P payload() {
        return payload.get();
    }

    /** The fencing token of this membership: larger than that of any earlier member of this id. */
    public FencingToken token() {
        return token;
    }

    /** How often the payload was changed since it joined. */
    public int payloadVersion() {
        return stat.version();
    }

    /** The session that it belongs to; 0 for one that was created in another way and stays. */
    public long sessionId() {
        return stat.ephemeralOwner();
    }

    /** When it joined, by the clock of the backend's leader. */
    public Instant since() {
        return Instant.ofEpochMilli(stat.ctimeMs());
    }

    @Override
    public String toString() {
        return "Member[" + id + ", token " + token + ", payload version " + payloadVersion() + ", session 0x"
                + Long.toHexString(sessionId()) + "]";
    }
}
