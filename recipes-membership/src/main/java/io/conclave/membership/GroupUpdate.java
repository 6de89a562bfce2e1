package io.conclave.membership;

import java.util.List;

/**
 * What a listener of a view is told: a state of the group, and what is different from the last one that it was told of.
 *
 * <p>A member that left and joined again in between, in another session say, stands in both {@link #left} and
 * {@link #joined}.
 *
 * @param <P> the type of the payloads
 * @param snapshot the state
 * @param since the number of the last state that this listener received; 0 for nothing at all
 * @param joined the new members, as they are now
 * @param left the members that are gone, as they were
 * @param changed whose payload has changed, as it is now
 */
public record GroupUpdate<P>(
        GroupSnapshot<P> snapshot, long since, List<Member<P>> joined, List<Member<P>> left, List<Member<P>> changed) {
    /** Copies the lists. */
    public GroupUpdate {
        joined = List.copyOf(joined);
        left = List.copyOf(left);
        changed = List.copyOf(changed);
    }

    @Override
    public String toString() {
        return "GroupUpdate[" + since + " to " + snapshot.number() + ", joined " + ids(joined) + ", left " + ids(left)
                + ", changed " + ids(changed) + ", " + snapshot.size() + " members]";
    }

    private static <P> List<String> ids(List<Member<P>> members) {
        return members.stream().map(Member::id).toList();
    }
}
