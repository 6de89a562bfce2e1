package io.conclave.consensus.peer;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What the package logs meanwhile. */
final class LogLines implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger(LogLines.class.getPackageName());
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    LogLines() {
        lines.list = new java.util.concurrent.CopyOnWriteArrayList<>();
        lines.start();
        logger.setLevel(Level.INFO);
        logger.setAdditive(false);
        logger.addAppender(lines);
    }

    List<String> with(String text) {
        return lines.list.stream()
                .map(ILoggingEvent::getFormattedMessage)
                .filter(line -> line.contains(text))
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(lines);
        logger.setLevel(null);
        logger.setAdditive(true);
    }
}
