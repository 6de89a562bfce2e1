package io.conclave.server;

import io.conclave.connection.CommandWords;
import io.conclave.connection.ConnectionReport;
import io.conclave.connection.ConnectionTotals;
import io.conclave.connection.ServiceMode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/** ZooKeeper's words for operators, those that are allowed; the texts are in its form, which tools read. */
final class FourLetterWords implements CommandWords {
    private static final String NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";
    /** All of ZooKeeper's, so that those which are not answered here are refused in its way. */
    private static final Set<String> KNOWN = Set.of(
            "conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "ruok", "srst", "srvr", "stat", "stmk", "wchc",
            "wchp", "wchs", "mntr", "isro", "hash");

    private final Set<String> allowed;
    private final Supplier<CompletionStage<ConnectionTotals>> totals;
    private final Supplier<CompletionStage<List<ConnectionReport>>> connections;
    private final ServerReport server;
    /** What needs to be serving; the others are answered in any case. Only what lists the connections looks at each. */
    private final Map<String, Supplier<CompletionStage<String>>> whileServing;

    FourLetterWords(
            ServerConfig config,
            ServerReport server,
            Supplier<CompletionStage<ConnectionTotals>> totals,
            Supplier<CompletionStage<List<ConnectionReport>>> connections) {
        this.allowed = config.commandWhitelist();
        this.totals = totals;
        this.connections = connections;
        this.server = server;
        this.whileServing = Map.of(
                "srvr", () -> ofTotals(sums -> server.heading() + server.statistics(sums)),
                "stat", this::statistics,
                "cons", () -> this.connections.get().thenApply(FourLetterWords::listed),
                "conf", () -> CompletableFuture.completedStage(server.configuration()),
                "mntr", () -> ofTotals(server::monitoring));
    }

    private CompletionStage<String> ofTotals(Function<ConnectionTotals, String> text) {
        return totals.get().thenApply(text);
    }

    private CompletionStage<String> statistics() {
        return connections
                .get()
                .thenCombine(totals.get(), (each, sums) -> server.heading() + clients(each) + server.statistics(sums));
    }

    @Override
    public boolean isWord(String letters) {
        return KNOWN.contains(letters);
    }

    @Override
    public CompletionStage<String> answer(String word) {
        if (!isAllowed(word)) {
            return CompletableFuture.completedStage(word + " is not executed because it is not in the whitelist.\n");
        }
        return switch (word) {
            case "ruok" -> CompletableFuture.completedStage("imok");
            case "isro" -> CompletableFuture.completedStage(readOnly(server.mode()));
            case "envi" -> CompletableFuture.completedStage(server.environment());
            default -> answerWhileServing(word);
        };
    }

    private CompletionStage<String> answerWhileServing(String word) {
        Supplier<CompletionStage<String>> text = whileServing.get(word);
        if (text == null) {
            return CompletableFuture.completedStage(word + " is not supported by this server.\n");
        }
        if (server.mode() == ServiceMode.NONE) {
            return CompletableFuture.completedStage(notServing(word));
        }
        return text.get();
    }

    /** ZooKeeper's line first, for tools that look for it. */
    private String notServing(String word) {
        String reason = server.noLeaderReason();
        return switch (word) {
            case "srvr" -> reason.isEmpty() ? NOT_SERVING : NOT_SERVING + "No leader: " + reason + "\n";
            case "mntr" -> reason.isEmpty() ? NOT_SERVING : NOT_SERVING + "zk_no_leader_reason\t" + reason + "\n";
            default -> NOT_SERVING;
        };
    }

    /** As in ZooKeeper, isro is for clients that look for a server, where there is a read-only mode at all. */
    private boolean isAllowed(String word) {
        return allowed.contains(word) || allowed.contains("*") || (word.equals("isro") && server.mayBeReadOnly());
    }

    private static String readOnly(ServiceMode mode) {
        return switch (mode) {
            case NONE -> "null";
            case READ_ONLY -> "ro";
            case FULL -> "rw";
        };
    }

    private static String clients(List<ConnectionReport> clients) {
        StringBuilder text = new StringBuilder("Clients:\n");
        for (ConnectionReport client : clients) {
            text.append(line(client)).append(")\n");
        }
        return text.append('\n').toString();
    }

    private static String listed(List<ConnectionReport> clients) {
        StringBuilder text = new StringBuilder();
        for (ConnectionReport client : clients) {
            text.append(line(client));
            if (client.sessionId() != 0) {
                text.append(",sid=0x").append(Long.toHexString(client.sessionId()));
            }
            text.append(")\n");
        }
        return text.append('\n').toString();
    }

    private static String line(ConnectionReport client) {
        return String.format(
                Locale.ROOT,
                " %s[%d](queued=%d,recved=%d,sent=%d",
                client.address(),
                client.attached() ? 1 : 0,
                client.queued(),
                client.received(),
                client.sent());
    }
}
