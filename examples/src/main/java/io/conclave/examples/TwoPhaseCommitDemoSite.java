package io.conclave.examples;

import io.conclave.commit.Participant;
import io.conclave.commit.Site;
import io.conclave.commit.TransactionPart;
import io.conclave.commit.TwoPhaseCommit;
import io.conclave.commit.Vote;
import io.conclave.coordinator.Coordinator;
import io.conclave.session.SessionState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** A site of {@link TwoPhaseCommitDemo}: its books are a file of lines, and whatever it does waits for an order. */
public final class TwoPhaseCommitDemoSite implements Participant {
    private final Path books;
    private final Map<String, CompletableFuture<Void>> orders = new ConcurrentHashMap<>();

    private TwoPhaseCommitDemoSite(Path books) {
        this.books = books;
    }

    /**
     * Takes part until its input ends.
     *
     * @param arguments name, connect string, the books
     */
    public static void main(String[] arguments) throws Exception {
        TwoPhaseCommitDemoSite participant = new TwoPhaseCommitDemoSite(Path.of(arguments[2]));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Coordinator coordinator = Coordinator.builder(arguments[1])
                .sessionTimeout(TwoPhaseCommitDemo.LONG_SESSION)
                .connect()) {
            coordinator.onStateChange(TwoPhaseCommitDemoSite::onSession); // until the coordinator is closed
            Site site =
                    TwoPhaseCommit.at(coordinator, TwoPhaseCommitDemo.TRANSFERS).join(arguments[0], participant);
            for (String order = input.readLine(); order != null; order = input.readLine()) {
                participant.order(order).complete(null);
            }
            System.out.println(site.name() + " goes");
        }
    }

    private static void onSession(SessionState state) {
        if (state == SessionState.LOST) {
            System.out.println("its session is lost: what is under way begins again on the next one");
        }
    }

    /** Once it is given, an order stands: whatever waits for it may be called again. */
    private CompletableFuture<Void> order(String words) {
        return orders.computeIfAbsent(words, first -> new CompletableFuture<>());
    }

    @Override
    public Vote prepare(TransactionPart transaction) throws Exception {
        System.out.println("asked to prepare " + transaction.id());
        order("vote " + transaction.id()).get();
        write("prepared " + transaction.id());
        return Vote.COMMIT;
    }

    @Override
    public void commit(TransactionPart transaction) throws Exception {
        end("commit", "committed", transaction.id());
    }

    @Override
    public void abort(TransactionPart transaction) throws Exception {
        end("abort", "aborted", transaction.id());
    }

    private void end(String order, String outcome, String id) throws Exception {
        System.out.println("is told: " + order + " " + id);
        order("finish " + id).get();
        write(outcome + " " + id);
        System.out.println(outcome + " " + id);
    }

    /** A line that stands there already is not written again: so it may be called any number of times. */
    private void write(String line) throws IOException {
        if (!Files.exists(books) || !Files.readAllLines(books).contains(line)) {
            Files.write(
                    books,
                    List.of(line),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND,
                    StandardOpenOption.DSYNC);
        }
    }
}
