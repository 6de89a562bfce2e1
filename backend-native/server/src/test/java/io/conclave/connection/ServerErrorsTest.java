package io.conclave.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** A client that has found an error of the server, and causes it again and again. */
@Isolated("counts the lines that the whole package logs")
class ServerErrorsTest {
    private final LoneLoop server = new LoneLoop();

    @Test
    void theyDoNotFillTheLog() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.conclave.connection");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.setLevel(Level.WARN);
        logger.addAppender(log);
        try {
            for (int i = 0; i < 100; i++) {
                EmbeddedChannel channel = new EmbeddedChannel();
                server.reader(channel, 1, LoneLoop.unused(SessionLeases.class))
                        .exceptionCaught(null, new IllegalStateException("planted"));
                assertFalse(channel.isOpen());
            }
        } finally {
            logger.detachAppender(log);
            logger.setLevel(null);
        }
        assertEquals(3, log.list.size());
        assertEquals("planted", log.list.get(0).getThrowableProxy().getMessage());
    }
}
