package io.conclave.client;

import io.conclave.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The move of a session from a server that stops to another one. The application is told only if the move takes long.
 * Owned by the session's event loop.
 */
final class SessionMove {
    private static final Duration LONGEST = Duration.ofSeconds(2);

    private final SessionLoop loop;
    private final TimeSource time;
    private boolean underWay;
    private int number;
    private TimeSource.@Nullable Timer timer;

    SessionMove(SessionLoop loop, TimeSource time) {
        this.loop = loop;
        this.time = time;
    }

    boolean isUnderWay() {
        return underWay;
    }

    /**
     * The connection to the old server has ended.
     *
     * @param tooLong what to do, on the loop, if no other server has taken the session soon
     */
    void begin(Duration sessionTimeout, Runnable tooLong) {
        end();
        underWay = true;
        int current = number;
        Duration third = sessionTimeout.dividedBy(3);
        timer = time.schedule(
                third.compareTo(LONGEST) < 0 ? third : LONGEST,
                () -> loop.execute(() -> {
                    if (underWay && current == number) {
                        end();
                        tooLong.run();
                    }
                }));
    }

    /** Another server has taken the session, or the move became a reconnect. */
    void end() {
        underWay = false;
        number++;
        TimeSource.Timer waiting = timer;
        timer = null;
        if (waiting != null) {
            waiting.cancel();
        }
    }
}
