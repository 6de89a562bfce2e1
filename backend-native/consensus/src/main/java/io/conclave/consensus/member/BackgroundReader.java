package io.conclave.consensus.member;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads files elsewhere than on the member's thread, and brings it what was read. */
final class BackgroundReader {
    private static final Logger log = LoggerFactory.getLogger(BackgroundReader.class);

    /** What is done elsewhere. */
    interface Reading<T> {
        T run() throws IOException;
    }

    private final Executor background;
    private final Executor memberThread;

    BackgroundReader(Executor background, Executor memberThread) {
        this.background = background;
        this.memberThread = memberThread;
    }

    /** @param then gets what was read, or nothing if it cannot be; on the member's thread, perhaps at once */
    <T> void read(String what, Reading<T> reading, Consumer<Optional<T>> then) {
        try {
            background.execute(() -> {
                Optional<T> result = result(what, reading);
                memberThread.execute(() -> then.accept(result));
            });
        } catch (RejectedExecutionException e) {
            then.accept(Optional.empty());
        }
    }

    private static <T> Optional<T> result(String what, Reading<T> reading) {
        try {
            return Optional.of(reading.run());
        } catch (IOException | RuntimeException | Error e) {
            log.warn("{} cannot be read", what, e);
            return Optional.empty();
        }
    }
}
