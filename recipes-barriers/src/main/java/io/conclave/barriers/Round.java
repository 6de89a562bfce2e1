package io.conclave.barriers;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The participants of one round of a double barrier, as its ready znode names them. So a late participant knows that it
 * belongs to the next round, and whether the ready znode of a round was left behind.
 *
 * @param names the names of its znodes; empty for a ready znode of another library, such as Curator: then it lets all
 *     participants through, as the recipes page defines it
 */
record Round(Optional<Set<String>> names) {
    private static final String HEADING = "conclave round";

    static Round of(Collection<String> names) {
        return new Round(Optional.of(new TreeSet<>(names)));
    }

    static Round parse(byte[] data) {
        List<String> lines = Arrays.asList(new String(data, StandardCharsets.UTF_8).split("\n", -1));
        return lines.get(0).equals(HEADING) ? of(lines.subList(1, lines.size())) : new Round(Optional.empty());
    }

    byte[] toBytes() {
        List<String> lines = new ArrayList<>(List.of(HEADING));
        names.ifPresent(lines::addAll);
        return String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
    }

    boolean includes(String name) {
        return names.map(all -> all.contains(name)).orElse(true);
    }

    /** Whether the name is written down, not only let through. */
    boolean lists(String name) {
        return names.map(all -> all.contains(name)).orElse(false);
    }

    /** Those of the round that are still there, lowest first. */
    List<String> among(List<String> children) {
        return members(children).stream().filter(this::includes).toList();
    }

    /** The children of a barrier that are participants, lowest first. */
    static List<String> members(List<String> children) {
        return children.stream().filter(DoubleBarrierLayout::isMember).sorted().toList();
    }
}
