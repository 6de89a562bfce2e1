package io.conclave.commit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.node.NodePath;
import io.conclave.request.GetData;
import io.conclave.request.Request;
import io.conclave.testkit.driver.Actor;
import io.conclave.testkit.driver.FaultRun;
import java.time.Duration;
import java.util.Optional;

/**
 * The requests of a simple recipe in a fault run: each is sent, on session after session, until its answer is known.
 */
final class TextbookRequests {
    static final Duration LOOK_INTERVAL = Duration.ofMillis(500);

    private final FaultRun run;
    private final Actor me;

    TextbookRequests(FaultRun run, Actor me) {
        this.run = run;
        this.me = me;
    }

    /** What stands there; nothing if there is no such znode. */
    String text(NodePath path) throws InterruptedException {
        while (true) {
            try {
                return new String(me.coordinator().execute(GetData.of(path)).data(), UTF_8);
            } catch (OutcomeUnknownException | SessionGoneException e) {
                run.pause(LOOK_INTERVAL);
            } catch (RefusedException e) {
                if (e.reason() != RefusalReason.NO_NODE) {
                    throw e;
                }
                return "";
            }
        }
    }

    /**
     * The refusal, if it is not known to have been carried out. One that was carried out may be refused the next time.
     */
    Optional<RefusedException> send(Request<?> request) throws InterruptedException {
        while (true) {
            try {
                me.coordinator().execute(request);
                return Optional.empty();
            } catch (OutcomeUnknownException | SessionGoneException e) {
                run.pause(LOOK_INTERVAL);
            } catch (RefusedException e) {
                return Optional.of(e);
            }
        }
    }
}
