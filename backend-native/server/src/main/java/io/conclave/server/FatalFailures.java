package io.conclave.server;

import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server does when it cannot go on: it logs why, ends on a thread of its own, and tells the application what to
 * do.
 */
final class FatalFailures {
    private static final Logger LOG = LoggerFactory.getLogger(FatalFailures.class);

    private final Optional<Path> dataDirectory;
    private final Consumer<LogException> fatal;

    FatalFailures(Optional<Path> dataDirectory, Consumer<LogException> fatal) {
        this.dataDirectory = dataDirectory;
        this.fatal = fatal;
    }

    /**
     * The log has failed.
     *
     * @param close closes the server
     */
    void logFailed(LogException cause, Runnable close) {
        LOG.error("The log has failed and the server ends: {}", cause.getMessage(), cause);
        BackgroundThreads.runApart(() -> {
            close.run();
            fatal.accept(cause);
        });
    }

    /**
     * The others have another state. The log is set aside, so that the next start is that of a member that has nothing,
     * and is given what the others have.
     *
     * @param kill ends the server so that nothing that is here is sent any more
     */
    void stateIsWrong(String reason, Runnable kill) {
        LOG.error("The server stops: {}", reason);
        BackgroundThreads.runApart(() -> {
            boolean marked = isMarked(reason);
            kill.run();
            fatal.accept(new LogException(reason + ". " + logSetAside(marked)
                    + " Start it again: it is given the state of the others. Have its memory tested"));
        });
    }

    /** Whether the next start sets the log aside: something may keep the directory locked until this process ends. */
    private boolean isMarked(String reason) {
        try {
            dataDirectory.ifPresent(directory -> OfflineLog.setAsideAtNextStart(RealDisk.in(directory), reason));
            return true;
        } catch (RuntimeException e) { // also where the directory is gone: the server must end
            LOG.error("The log could not be marked to be set aside at the next start", e);
            return false;
        }
    }

    private String logSetAside(boolean marked) {
        if (dataDirectory.isEmpty()) {
            return "It was in memory only.";
        }
        try {
            List<String> names = OfflineLog.setAside(RealDisk.in(dataDirectory.get()));
            return "Its log was set aside, as " + String.join(", ", names) + ".";
        } catch (RuntimeException e) {
            LOG.warn("The log could not be set aside now", e);
            return marked
                    ? "Its log is set aside by the next start."
                    : "Its log could not be set aside (" + e.getMessage() + "): do that before the next start.";
        }
    }

    /** The log's thread cannot be waited for, so nothing is closed: the process has to end. */
    void standsStill(Duration stoodStill) {
        LogException cause = new LogException("the log has not moved for " + stoodStill.toMillis()
                + " ms, probably because its disk hangs. The process ends so that its supervisor sees it; look at the "
                + "disk"
                + dataDirectory.map(directory -> " of " + directory).orElse("")
                + " before the next start");
        LOG.error("The server gives up: {}", cause.getMessage());
        BackgroundThreads.runApart(() -> fatal.accept(cause));
    }
}
