package io.conclave.examples;

import io.conclave.config.Configuration;
import io.conclave.coordinator.Coordinator;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * An updater is stopped for longer than its session lives; when it goes on it finds its session expired, and goes on
 * writing with a new one.
 */
public final class ResilientUpdaterDemo {
    private ResilientUpdaterDemo() {}

    /** Runs the demo; exit status 0 if everything that it shows is as it should be. */
    public static void main(String[] arguments) throws Exception {
        BlockingQueue<Long> beats = new LinkedBlockingQueue<>();
        try (DemoStage stage = DemoStage.open();
                Coordinator coordinator = stage.connect()) {
            Configuration.at(coordinator, ConfigUpdater.PATH) // until the coordinator is closed
                    .observe(ResilientConfigUpdater.BEAT, beat -> beat.ifPresent(beats::add));
            DemoProcess updater = stage.start("updater", ResilientConfigUpdater.class);
            awaitBeat(beats, 5);
            System.out.println("The updater is stopped for longer than its session lives");
            updater.pause();
            TimeUnit.MILLISECONDS.sleep(2 * DemoStage.SESSION_TIMEOUT.toMillis());
            beats.clear();
            updater.resume();
            updater.awaits("session LOST");
            updater.awaits("session CONNECTED");
            beats.clear();
            long first = awaitBeat(beats, 1);
            long later = awaitBeat(beats, first + 5);
            DemoStage.check(later > first, "it went on writing with a new session, from " + first + " to " + later);
        }
    }

    private static long awaitBeat(BlockingQueue<Long> beats, long atLeast) throws InterruptedException {
        while (true) {
            Long beat = beats.poll(60, TimeUnit.SECONDS);
            if (beat == null) {
                throw new IllegalStateException("For a minute nothing was written up to " + atLeast);
            }
            if (beat >= atLeast) {
                return beat;
            }
        }
    }
}
