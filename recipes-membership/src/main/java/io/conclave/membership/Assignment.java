package io.conclave.membership;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which member each partition is assigned to. Immutable.
 *
 * <p>The next assignment is made from the one before, so that nothing moves that need not: a member keeps what it has
 * up to its share, and only what is left over, or was a former member's, goes to members that have less. Shares differ
 * by one partition at most. (So do the sticky assignors of Kafka; consistent and rendezvous hashing, which need no
 * memory, move more or leave the shares less even.)
 *
 * @param members all members, those without a partition too
 * @param owners the member of each partition
 */
record Assignment(SortedSet<String> members, SortedMap<String, String> owners) {
    static final Assignment NONE = new Assignment(new TreeSet<>(), new TreeMap<>());

    private static final String HEADER = "conclave-assignment 1";
    private static final String MEMBER = "member ";
    private static final String PARTITION = "partition ";

    Assignment {
        members = Collections.unmodifiableSortedSet(new TreeSet<>(members));
        owners = Collections.unmodifiableSortedMap(new TreeMap<>(owners));
    }

    /** Whether it assigns these partitions, and no others, among these members. */
    boolean isFor(Collection<String> someMembers, Collection<String> partitions) {
        return members.equals(new TreeSet<>(someMembers)) && owners.keySet().equals(new TreeSet<>(partitions));
    }

    /** The partitions of a member. */
    SortedSet<String> of(String member) {
        SortedSet<String> own = new TreeSet<>();
        owners.forEach((partition, owner) -> {
            if (owner.equals(member)) {
                own.add(partition);
            }
        });
        return own;
    }

    /** What a member has while the next assignment is made. */
    private record Share(String member, SortedSet<String> partitions) {
        int size() {
            return partitions.size();
        }
    }

    /** The assignment among other members, or of other partitions, that moves as few partitions as can be. */
    Assignment next(Collection<String> nextMembers, Collection<String> partitions) {
        Map<String, Share> shares = new TreeMap<>();
        nextMembers.forEach(member -> shares.put(member, new Share(member, new TreeSet<>())));
        if (shares.isEmpty()) {
            return NONE;
        }
        SortedSet<String> all = new TreeSet<>(partitions);
        SortedSet<String> unassigned = new TreeSet<>();
        for (String partition : all) {
            Share share = shares.get(owners.getOrDefault(partition, ""));
            (share == null ? unassigned : share.partitions).add(partition);
        }
        List<Share> largestFirst = new ArrayList<>(shares.values()); // so that who has one more may keep it
        largestFirst.sort(
                Comparator.comparingInt((Share share) -> -share.size()).thenComparing(Share::member));
        level(largestFirst, unassigned, all.size());
        SortedMap<String, String> nextOwners = new TreeMap<>();
        largestFirst.forEach(share -> share.partitions.forEach(partition -> nextOwners.put(partition, share.member)));
        return new Assignment(new TreeSet<>(nextMembers), nextOwners);
    }

    /** Takes from those that have too many, and then gives to those that have too few. */
    private static void level(List<Share> shares, SortedSet<String> unassigned, int total) {
        int least = total / shares.size();
        int withOneMore = total % shares.size();
        for (int i = 0; i < shares.size(); i++) {
            SortedSet<String> share = shares.get(i).partitions;
            while (share.size() > least + (i < withOneMore ? 1 : 0)) {
                unassigned.add(share.last());
                share.remove(share.last());
            }
        }
        for (int i = 0; i < shares.size(); i++) {
            SortedSet<String> share = shares.get(i).partitions;
            while (share.size() < least + (i < withOneMore ? 1 : 0)) {
                share.add(unassigned.first());
                unassigned.remove(unassigned.first());
            }
        }
    }

    /** How many partitions have another member than in an earlier assignment. */
    int movedSince(Assignment before) {
        return (int) owners.entrySet().stream()
                .filter(entry -> !entry.getValue().equals(before.owners.get(entry.getKey())))
                .count();
    }

    /** A text for people and programs: each member in a line, with its partitions in the lines behind it. */
    byte[] toBytes() {
        StringBuilder text = new StringBuilder(HEADER).append('\n');
        for (String member : members) {
            text.append(MEMBER).append(member).append('\n');
            of(member)
                    .forEach(partition ->
                            text.append(PARTITION).append(partition).append('\n'));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Reads what {@link #toBytes} writes; empty if it is something else. */
    static Optional<Assignment> parse(String text) {
        SortedSet<String> members = new TreeSet<>();
        SortedMap<String, String> owners = new TreeMap<>();
        String member = "";
        String[] lines = text.split("\n", -1);
        if (!lines[0].equals(HEADER)) {
            return Optional.empty();
        }
        for (String line : List.of(lines).subList(1, lines.length)) {
            if (line.startsWith(MEMBER)) {
                member = line.substring(MEMBER.length());
                members.add(member);
            } else if (line.startsWith(PARTITION) && !members.isEmpty()) {
                owners.put(line.substring(PARTITION.length()), member);
            } else if (!line.isEmpty()) {
                return Optional.empty();
            }
        }
        return Optional.of(new Assignment(members, owners));
    }
}
