package io.conclave.membership;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How even the shares are, and how little moves. */
class AssignmentTest {
    private static List<String> names(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + i).toList();
    }

    private static int largestLess(Assignment assignment) {
        List<Integer> sizes = assignment.members().stream()
                .map(member -> assignment.of(member).size())
                .sorted()
                .toList();
        return sizes.get(sizes.size() - 1) - sizes.get(0);
    }

    /** As kazoo's SetPartitioner does: each member takes every n-th partition, from its own place in the order. */
    private static Assignment everyNth(List<String> members, List<String> partitions) {
        TreeMap<String, String> owners = new TreeMap<>();
        for (int i = 0; i < partitions.size(); i++) {
            owners.put(partitions.get(i), members.get(i % members.size()));
        }
        return new Assignment(new TreeSet<>(members), owners);
    }

    @Test
    void oneMemberThatComesOrGoesMovesItsShareOnly() {
        List<String> partitions = names("p", 1000);
        for (int count : new int[] {2, 3, 10, 50}) {
            List<String> members = names("m", count);
            List<String> withOneMore = names("m", count + 1);
            Assignment before = Assignment.NONE.next(members, partitions);
            Assignment joined = before.next(withOneMore, partitions);
            int movedByJoin = joined.movedSince(before);
            assertEquals(joined.of("m" + count).size(), movedByJoin, "only what the new one gets");
            assertEquals(1000 / (count + 1), movedByJoin);
            List<String> without = new ArrayList<>(members);
            without.remove("m0");
            Assignment left = before.next(without, partitions);
            assertEquals(before.of("m0").size(), left.movedSince(before), "only what the former one had");
            assertTrue(largestLess(joined) <= 1 && largestLess(left) <= 1);
            System.out.printf(
                    "partitions that move, of 1000 among %d members: %.1f %% when one joins, %.1f %% when one leaves;"
                            + " every n-th: %.1f %% and %.1f %%%n",
                    count,
                    movedByJoin / 10.0,
                    left.movedSince(before) / 10.0,
                    everyNth(withOneMore, partitions).movedSince(everyNth(members, partitions)) / 10.0,
                    everyNth(without, partitions).movedSince(everyNth(members, partitions)) / 10.0);
        }
    }

    @Test
    void sharesStayEvenAndNothingMovesForNothingWhoeverComesAndGoes() {
        long seed = ThreadLocalRandom.current().nextLong();
        Random random = new Random(seed);
        Assignment before = Assignment.NONE;
        for (int round = 0; round < 300; round++) {
            SortedSet<String> members = new TreeSet<>();
            while (members.isEmpty()) {
                names("m", 12).stream().filter(name -> random.nextBoolean()).forEach(members::add);
            }
            List<String> partitions = names("p", 1 + random.nextInt(40));
            Assignment next = before.next(members, partitions);
            String what = "seed " + seed + ", round " + round + ": " + before + " to " + next;
            assertTrue(next.isFor(members, partitions), what);
            assertTrue(largestLess(next) <= 1, what);
            int least = partitions.size() / members.size();
            for (String member : members) {
                SortedSet<String> lost = new TreeSet<>(before.of(member));
                lost.retainAll(partitions);
                lost.removeAll(next.of(member));
                boolean gained = !before.of(member).containsAll(next.of(member));
                assertTrue(lost.isEmpty() || !gained, what + ": " + member + " gave up some and got others");
                assertTrue(lost.isEmpty() || next.of(member).size() >= least, what);
            }
            assertEquals(0, next.next(members, partitions).movedSince(next), what);
            assertEquals(next, before.next(members, partitions), what);
            before = next;
        }
    }

    @Test
    void textTellsTheSameAssignment() {
        Assignment assignment = Assignment.NONE.next(List.of("host 7", "b", "c", "d"), List.of("0", "1", "2"));
        String text = new String(assignment.toBytes(), UTF_8);
        assertEquals(assignment, Assignment.parse(text).orElseThrow());
        assertTrue(Assignment.parse("").isEmpty());
        assertTrue(Assignment.parse("conclave-assignment 1\nnonsense").isEmpty());
        assertTrue(Assignment.parse("conclave-assignment 1\npartition 0").isEmpty());
        assertEquals(Assignment.NONE, Assignment.NONE.next(List.of(), List.of("0")));
    }
}
