package io.conclave.membership;

import static org.awaitility.Awaitility.await;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.DataCodec;
import io.conclave.testkit.contract.RecipeFixture;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Where the tests of the group's contract work, and what they wait for. */
abstract class GroupFixture extends RecipeFixture {
    static final String PATH = "/groups/workers";

    static Group<String> groupOf(Coordinator coordinator) {
        return Group.at(coordinator, PATH, DataCodec.TEXT);
    }

    static List<String> ids(List<Member<String>> members) {
        return members.stream().map(Member::id).toList();
    }

    /** The members with their payloads. */
    static List<String> texts(Iterable<Member<String>> members) {
        List<String> texts = new ArrayList<>();
        members.forEach(member -> texts.add(member.id() + "=" + member.payload()));
        return texts;
    }

    static void awaitMembers(Coordinator coordinator, String... expected) {
        await().atMost(PATIENCE)
                .until(() -> texts(groupOf(coordinator).members()).equals(List.of(expected)));
    }

    static void awaitSnapshot(GroupView<String> view, String... expected) {
        await().atMost(PATIENCE).until(() -> texts(view.snapshot().members()).equals(List.of(expected)));
    }

    /** Adds up what a listener is told, and checks that it fits together. */
    static final class Told implements Consumer<GroupUpdate<String>> {
        final List<GroupUpdate<String>> updates = Collections.synchronizedList(new ArrayList<>());
        private final TreeSet<String> ids = new TreeSet<>();
        private final List<String> problems = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void accept(GroupUpdate<String> update) {
            synchronized (updates) {
                long last = updates.isEmpty()
                        ? 0
                        : updates.get(updates.size() - 1).snapshot().number();
                check(update.since() == last, "the difference is not to the last state: " + update);
                check(update.snapshot().number() > last, "numbers grow: " + update);
                update.left().forEach(member -> check(ids.remove(member.id()), "left, but was not there: " + update));
                update.joined().forEach(member -> check(ids.add(member.id()), "joined, but was there: " + update));
                update.changed()
                        .forEach(member -> check(ids.contains(member.id()), "changed, but not there: " + update));
                check(ids.equals(update.snapshot().byId().keySet()), "the sum is not the state: " + update);
                updates.add(update);
            }
        }

        private void check(boolean holds, String what) {
            if (!holds) {
                problems.add(what);
            }
        }

        List<String> problems() {
            return List.copyOf(problems);
        }

        List<String> last() {
            synchronized (updates) {
                return updates.isEmpty()
                        ? List.of("nothing told")
                        : texts(updates.get(updates.size() - 1).snapshot().members());
            }
        }

        void awaitLast(String... expected) {
            await("told " + updates).atMost(PATIENCE).until(() -> last().equals(List.of(expected)));
        }
    }
}
