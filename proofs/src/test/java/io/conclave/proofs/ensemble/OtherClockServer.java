package io.conclave.proofs.ensemble;

import io.conclave.server.ConclaveServer;
import io.conclave.server.ConfigFile;
import io.conclave.time.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A server as an operator starts it, on a machine whose wall clock is wrong. */
public final class OtherClockServer {
    static final String AHEAD_MS = "conclave.clock.ahead.ms";

    private OtherClockServer() {}

    /** @param arguments a command, which is always to start, and the configuration file */
    public static void main(String[] arguments) throws InterruptedException {
        TimeSource time = ahead(Long.getLong(AHEAD_MS));
        ConclaveServer server =
                ConclaveServer.start(ConfigFile.read(Path.of(arguments[1])), time, cause -> Runtime.getRuntime()
                        .halt(1));
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        new CountDownLatch(1).await();
    }

    private static TimeSource ahead(long aheadMs) {
        TimeSource machine = TimeSource.system();
        return new TimeSource() {
            @Override
            public long monotonicNanos() {
                return machine.monotonicNanos();
            }

            @Override
            public long wallMillis() {
                return machine.wallMillis() + aheadMs;
            }

            @Override
            public Timer schedule(Duration delay, Runnable task) {
                return machine.schedule(delay, task);
            }
        };
    }
}
