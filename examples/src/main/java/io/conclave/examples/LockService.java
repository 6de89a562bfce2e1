package io.conclave.examples;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.GetData;
import java.nio.charset.StandardCharsets;

/**
 * A lock service: several processes contend for one named lock, stand in line for it, and one of them comes back too
 * late from a long pause.
 *
 * <p>The clients do what they are told by lines of input; see {@link LockServiceClient}.
 */
public final class LockService {
    /** The lock that all of them want. */
    static final String LOCK = "/locks/printer";
    /** What it guards in the coordination store itself; the other thing that it guards is a file. */
    static final NodePath LAST_WRITER = NodePath.of("/last-writer");

    private LockService() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            CounterFile file = new CounterFile(stage.file("counter"));
            file.create();
            coordinator.execute(Create.of(LAST_WRITER));
            play(stage);
            String lastWriter =
                    new String(coordinator.execute(GetData.of(LAST_WRITER)).data(), StandardCharsets.UTF_8);
            DemoStage.check(lastWriter.equals("cleo"), "the last writer in the store is cleo");
            DemoStage.check(file.read().count() == 3, "the guarded file has three writes, and none of the late one");
        }
    }

    private static void play(DemoStage stage) throws InterruptedException {
        DemoProcess ann = client(stage, "ann");
        DemoProcess ben = client(stage, "ben");
        DemoProcess cleo = client(stage, "cleo");

        ann.tell("lock");
        ann.awaits("holds");
        ben.tell("lock");
        ben.awaits("line: ann, ben");
        cleo.tell("try");
        cleo.awaits("had no luck"); // and has left the line
        cleo.tell("lock");
        cleo.awaits("line: ann, ben, cleo");

        ann.tell("write");
        ann.awaits("has written to the store");
        ann.tell("release");
        ben.awaits("holds");
        ben.tell("write");
        ben.awaits("has written to the store");

        System.out.println("ben is stopped with the lock in its hands, longer than its session lives");
        ben.pause();
        cleo.awaits("holds");
        cleo.tell("write");
        cleo.awaits("has written to the store");

        System.out.println("ben goes on, and the first thing that it does is to write");
        ben.tell("write");
        ben.resume();
        ben.awaits("refused by the file");
        ben.awaits("refused by the store");
    }

    private static DemoProcess client(DemoStage stage, String name) throws InterruptedException {
        return stage.start(name, LockServiceClient.class, stage.file("counter").toString());
    }
}
