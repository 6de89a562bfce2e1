package io.conclave.proofs.faults;

import io.conclave.coordinator.Coordinator;
import io.conclave.locks.DistributedLock;
import io.conclave.locks.LockGrant;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * A process that holds a lock and answers questions from its standard input, line by line, without a thought:
 * {@code held?} with what its grant says at that moment, {@code write} with a write under its token whatever the grant
 * says, {@code lost?} with the reason of the loss.
 */
final class StoppedHolder {
    private StoppedHolder() {}

    /** Arguments: connect string, lock path, session timeout in ms. */
    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Duration sessionTimeout = Duration.ofMillis(Long.parseLong(arguments[2]));
        try (Coordinator coordinator = Coordinator.builder(arguments[0])
                        .sessionTimeout(sessionTimeout)
                        .connect();
                LockGrant grant = DistributedLock.at(coordinator, arguments[1]).acquire(Duration.ofSeconds(30))) {
            say("token " + grant.token());
            String question = questions.readLine();
            while (question != null) {
                answer(question, grant);
                question = questions.readLine();
            }
        }
    }

    private static void answer(String question, LockGrant grant) {
        switch (question) {
            case "held?" ->
                say("held " + grant.isHeld() + " remaining " + grant.remaining().toMillis());
            case "ensure" -> say("ensure " + ensure(grant));
            case "write" -> say("write " + grant.token());
            case "lost?" -> say("lost " + grant.lost().toCompletableFuture().join());
            default -> say("what is " + question + "?");
        }
    }

    private static String ensure(LockGrant grant) {
        try {
            grant.ensureHeld();
            return "passed";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName();
        }
    }

    private static void say(String line) {
        System.out.println("> " + line);
        System.out.flush();
    }
}
