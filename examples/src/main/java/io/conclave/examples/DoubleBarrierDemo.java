package io.conclave.examples;

import io.conclave.time.TimeSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Three processes begin a step together and end it together. In the second step one of them is killed while it works:
 * it blocks nobody. In the third one another process takes its place.
 */
public final class DoubleBarrierDemo {
    static final String BARRIER = "/barriers/step";
    static final int PARTICIPANTS = 3;

    private DoubleBarrierDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        try (DemoStage stage = DemoStage.open()) {
            play(stage);
        }
    }

    private static void play(DemoStage stage) throws InterruptedException {
        List<String> said = new ArrayList<>();
        DemoProcess ann = worker(stage, "ann", said);
        DemoProcess ben = worker(stage, "ben", said);
        DemoProcess cleo = worker(stage, "cleo", said);
        for (DemoProcess worker : List.of(ann, ben, cleo)) {
            worker.tell("come");
            worker.awaits("comes");
        }
        awaitAll("begins", ann, ben, cleo);
        DemoStage.check(lastOf(said, "comes") < firstOf(said, "begins"), "nobody began before all three were there");
        for (DemoProcess worker : List.of(ben, cleo, ann)) {
            worker.tell("finish");
            worker.awaits("has finished");
        }
        awaitAll("goes home", ann, ben, cleo);
        DemoStage.check(
                lastOf(said, "has finished") < firstOf(said, "goes home"),
                "nobody went home before all three had finished");

        for (DemoProcess worker : List.of(ann, ben, cleo)) {
            worker.tell("come");
        }
        awaitAll("begins", ann, ben, cleo);
        ann.tell("finish");
        ben.tell("finish");
        awaitAll("has finished", ann, ben);
        System.out.println("cleo: is killed with -9 inside");
        cleo.kill();
        long killedAtMs = TimeSource.system().wallMillis();
        awaitAll("goes home", ann, ben);
        DemoStage.checkCameBack("the others went home", killedAtMs);

        DemoProcess dora = worker(stage, "dora", said);
        for (DemoProcess worker : List.of(ann, ben, dora)) {
            worker.tell("come");
        }
        awaitAll("begins", ann, ben, dora);
        DemoStage.check(true, "the next round began with dora in cleo's place");
        for (DemoProcess worker : List.of(ann, ben, dora)) {
            worker.tell("finish");
        }
        awaitAll("goes home", ann, ben, dora);
    }

    private static DemoProcess worker(DemoStage stage, String name, List<String> said) throws InterruptedException {
        DemoProcess worker = stage.start(
                name,
                line -> {
                    synchronized (said) {
                        said.add(line);
                        System.out.println(name + ": " + line);
                    }
                },
                DoubleBarrierDemoWorker.class);
        worker.awaits("is ready");
        return worker;
    }

    private static void awaitAll(String words, DemoProcess... workers) throws InterruptedException {
        for (DemoProcess worker : workers) {
            worker.awaits(words);
        }
    }

    private static int firstOf(List<String> said, String words) {
        synchronized (said) {
            return said.indexOf(words);
        }
    }

    private static int lastOf(List<String> said, String words) {
        synchronized (said) {
            return said.lastIndexOf(words);
        }
    }
}
