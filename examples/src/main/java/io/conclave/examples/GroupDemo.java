package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.membership.Group;
import io.conclave.membership.GroupUpdate;
import io.conclave.membership.GroupView;
import io.conclave.node.DataCodec;
import io.conclave.time.TimeSource;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A group is created, processes join it, one of them is killed and disappears, the group is listed and deleted. A live
 * view prints who comes and goes.
 */
public final class GroupDemo {
    private static final String GROUP = "/groups/zoo";

    private final BlockingQueue<GroupUpdate<String>> updates = new LinkedBlockingQueue<>();

    private GroupDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        GroupDemo demo = new GroupDemo();
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect();
                GroupView<String> view =
                        Group.at(coordinator, GROUP, DataCodec.TEXT).view()) {
            view.onChange(update -> {
                System.out.println("view: " + update);
                demo.updates.add(update);
            });
            demo.play(stage);
        }
    }

    private void play(DemoStage stage) throws InterruptedException {
        run(stage, "list");
        run(stage, "create");
        run(stage, "list");
        stage.start("duck", GroupProgram.class, "join", GROUP).awaits("has joined");
        stage.start("cow", GroupProgram.class, "join", GROUP).awaits("has joined");
        DemoProcess goat = stage.start("goat", GroupProgram.class, "join", GROUP);
        goat.awaits("has joined");
        awaitMembers("cow", "duck", "goat");
        run(stage, "list");

        System.out.println("goat is killed with -9");
        goat.kill();
        long killedAtMs = TimeSource.system().wallMillis();
        awaitMembers("cow", "duck");
        DemoStage.checkCameBack("goat disappeared", killedAtMs);

        run(stage, "delete");
        awaitMembers();
        run(stage, "list");
        System.out.println("Checked: the view saw every state");
    }

    private static void run(DemoStage stage, String what) throws InterruptedException {
        DemoStage.check(stage.start(what, GroupProgram.class, what, GROUP).ends() == 0, what + " has ended well");
    }

    private void awaitMembers(String... ids) throws InterruptedException {
        GroupUpdate<String> update;
        do {
            update = updates.poll(60, TimeUnit.SECONDS);
            if (update == null) {
                throw new IllegalStateException("For a minute the view has not shown these: " + List.of(ids));
            }
        } while (!List.copyOf(update.snapshot().byId().keySet()).equals(List.of(ids)));
    }
}
