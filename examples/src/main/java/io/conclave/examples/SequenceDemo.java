package io.conclave.examples;

import io.conclave.config.UniqueIds;
import io.conclave.coordinator.Coordinator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Redundant processes persist sequences of unique ids: the primary is killed and succeeded, sequences are found as they
 * appear, and then the coordination store is lost with all of its data. Ids go on, and none comes twice.
 */
public final class SequenceDemo {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path bounds;
    private final Set<String> given = new HashSet<>();

    private SequenceDemo(Path bounds) {
        this.bounds = bounds;
    }

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        Path bounds = Files.createTempDirectory("conclave-sequences");
        try {
            SequenceDemo demo = new SequenceDemo(bounds);
            try (DemoStage stage = DemoStage.open()) {
                demo.playSuccession(stage);
            }
            System.out.println("The coordination store is lost with all of its data; a new one begins empty");
            try (DemoStage stage = DemoStage.open()) {
                demo.playRestart(stage);
            }
            DemoStage.check(true, "all of " + demo.given.size() + " ids were given once");
        } finally {
            delete(bounds);
        }
    }

    private DemoProcess keeper(DemoStage stage, String name) {
        return stage.start(name, SequenceKeeper.class, bounds.toString());
    }

    private void playSuccession(DemoStage stage) throws InterruptedException {
        DemoProcess first = keeper(stage, "first");
        first.awaits("is primary");
        DemoProcess second = keeper(stage, "second");
        second.awaits("stands by");
        try (Coordinator coordinator = stage.connect()) {
            UniqueIds orders = UniqueIds.persisted(coordinator, SequenceKeeper.SEQUENCES + "/orders");
            take("orders", orders, 150);
            first.awaits("found sequence orders");

            System.out.println("The primary is killed with -9");
            first.kill();
            take("orders", orders, 500); // for a while from what was reserved ahead
            second.awaits("is primary");

            UniqueIds invoices = UniqueIds.persisted(coordinator, SequenceKeeper.SEQUENCES + "/invoices");
            take("invoices", invoices, 50);
            second.awaits("found sequence invoices");
        }
    }

    private void playRestart(DemoStage stage) throws InterruptedException {
        keeper(stage, "third").awaits("is primary");
        try (Coordinator coordinator = stage.connect()) {
            take("orders", UniqueIds.persisted(coordinator, SequenceKeeper.SEQUENCES + "/orders"), 50);
            take("invoices", UniqueIds.persisted(coordinator, SequenceKeeper.SEQUENCES + "/invoices"), 50);
        }
    }

    private void take(String name, UniqueIds ids, int count) throws InterruptedException {
        long first = ids.next(PATIENCE);
        long last = first;
        for (int i = 1; i < count; i++) {
            checkNew(name, last);
            last = ids.next(PATIENCE);
        }
        checkNew(name, last);
        System.out.println(count + " ids of " + name + ", from " + first + " to " + last);
    }

    private void checkNew(String name, long id) {
        if (!given.add(name + " " + id)) {
            throw new IllegalStateException("Given twice: " + name + " " + id);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
