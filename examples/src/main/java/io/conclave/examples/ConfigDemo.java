package io.conclave.examples;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * One process publishes two keys together again and again, two others watch; one that comes late sees the latest at
 * once, and none sees one key without the other.
 */
public final class ConfigDemo {
    private static final int PUBLICATIONS = 200;

    private ConfigDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        try (DemoStage stage = DemoStage.open()) {
            DemoProcess early = stage.start("early", seen::add, ConfigWatcher.class);
            DemoProcess updater = stage.start("updater", line -> {}, ConfigUpdater.class);
            updater.awaits("is ready");
            early.awaits("size 0");
            for (int i = 0; i < PUBLICATIONS; i++) {
                updater.tell("");
            }
            updater.awaits("has published " + PUBLICATIONS);
            early.awaits("size " + PUBLICATIONS + ",");
            stage.start("late", ConfigWatcher.class).awaits("size " + PUBLICATIONS + ",");
            System.out.println("early: saw " + seen.size() + " states of " + PUBLICATIONS + ", the last: "
                    + seen.get(seen.size() - 1));
            DemoStage.check(
                    seen.stream().noneMatch(line -> line.contains("TORN")), "no watcher saw one key without the other");
        }
    }
}
