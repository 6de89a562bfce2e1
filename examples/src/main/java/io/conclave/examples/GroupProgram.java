package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.membership.Group;
import io.conclave.membership.Member;
import io.conclave.membership.Membership;
import io.conclave.node.DataCodec;
import java.util.List;

/**
 * The four little programs of a group: create it, join it (until the process is killed, or its input ends), list it,
 * delete it.
 */
public final class GroupProgram {
    private GroupProgram() {}

    /**
     * Does one thing to a group.
     *
     * @param arguments the member's name, connect string, what to do (create, join, list, delete), the group's path
     */
    public static void main(String[] arguments) throws Exception {
        try (Coordinator coordinator = DemoStage.connect(arguments[1])) {
            Group<String> group = Group.at(coordinator, arguments[3], DataCodec.TEXT);
            switch (arguments[2]) {
                case "create" -> System.out.println(group.create() ? "Created " + group.path() : "It is there already");
                case "join" -> join(group, arguments[0]);
                case "list" -> list(group);
                case "delete" -> System.out.println(group.delete() ? "Deleted " + group.path() : "It does not exist");
                default -> throw new IllegalArgumentException("create, join, list or delete: " + arguments[2]);
            }
        }
    }

    private static void join(Group<String> group, String name) throws Exception {
        try (Membership<String> me =
                group.join(name, "process " + ProcessHandle.current().pid())) {
            System.out.println("has joined with token " + me.token().orElseThrow());
            while (System.in.read() >= 0) {
                System.out.println("still " + me.state());
            }
        }
        System.out.println("has left");
    }

    private static void list(Group<String> group) throws InterruptedException {
        if (!group.exists()) {
            System.out.println("Group " + group.path() + " does not exist");
            return;
        }
        List<Member<String>> members = group.members();
        if (members.isEmpty()) {
            System.out.println("No members in group " + group.path());
        }
        members.forEach(member -> System.out.println(member.id() + " (" + member.payload() + ")"));
    }
}
