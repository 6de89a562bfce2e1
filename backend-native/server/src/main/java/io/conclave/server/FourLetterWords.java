package io.conclave.server;

import io.conclave.connection.CommandWords;
import io.conclave.connection.ConnectionAcceptor;
import io.conclave.connection.ConnectionReport;
import io.conclave.connection.ConnectionTotals;
import io.conclave.connection.Loops;
import io.conclave.connection.ServiceMode;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

/** ZooKeeper's words for operators, those that are allowed; the texts are in its form, which tools read. */
final class FourLetterWords implements CommandWords {
    private static final String NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";
    private static final Set<String> KNOWN = Set.of(
            "conf", "cons", "crst", "dirs", "dump", "envi", "gtmk", "ruok", "srst", "srvr", "stat", "stmk", "wchc",
            "wchp", "wchs", "mntr", "isro", "hash");

    /** What ZooKeeper traces by default; nothing is traced here, and the number is only kept. */
    private static final long DEFAULT_TRACE_MASK = 0x132;

    /** Such as wait for the event loops and a thread for texts; more would wait there, and not by address. */
    private static final int SHORT_AT_A_TIME = 8;

    private final Set<String> allowed;
    private final Supplier<ConnectionAcceptor> connections;
    private final ServerReport server;
    private final ServerDescription description;
    private final Executor texts;
    /** Words that list all connections, sessions or watches. */
    private final WordTurns longOnes;

    private final WordTurns shortOnes;
    private final AtomicLong traceMask = new AtomicLong(DEFAULT_TRACE_MASK);
    /** What needs to be serving; the others are answered in any case. Only what lists the connections looks at each. */
    private final Map<String, Word> whileServing;

    private record Word(WordTurns turns, Supplier<CompletionStage<String>> text) {
        CompletionStage<String> answer(String host) {
            return turns.answer(host, text);
        }
    }

    /**
     * The words of a server.
     *
     * @param connections the connections, once there are any
     * @param sessions the answer to dump
     * @param digests the answer to hash
     * @param texts makes the answers, which may take long; refuses at the end of the server
     */
    FourLetterWords(
            ServerConfig config,
            ServerReport server,
            ServerDescription description,
            Supplier<ConnectionAcceptor> connections,
            Supplier<String> sessions,
            Supplier<String> digests,
            Executor texts) {
        this.allowed = config.commandWhitelist();
        this.connections = connections;
        this.server = server;
        this.description = description;
        this.texts = texts;
        this.longOnes = new WordTurns(1, 16, 64, server::wordFoundNoRoom);
        this.shortOnes = new WordTurns(SHORT_AT_A_TIME, 256, 1_024, server::wordFoundNoRoom);
        this.whileServing = Map.ofEntries(
                shortWord("srvr", () -> ofTotals(sums -> server.heading() + server.statistics(sums))),
                longWord("stat", this::statistics),
                longWord("cons", () -> made(reports(), FourLetterWords::listed)),
                shortWord("conf", () -> made(description::configuration)),
                shortWord(
                        "mntr",
                        () -> ofTotals(sums ->
                                server.monitoring(sums, this.connections.get().tls()))),
                longWord("dump", () -> made(sessions)),
                shortWord("hash", () -> made(digests)),
                shortWord("dirs", () -> made(description::directories)),
                longWord("wchs", () -> ofWatches(WatchReport::summary)),
                longWord("wchc", () -> ofWatches(WatchReport::ofSessions)),
                longWord("wchp", () -> ofWatches(WatchReport::ofPaths)),
                shortWord("srst", () -> loops().resetTotals().thenApply(done -> "Server stats reset.\n")),
                shortWord("crst", () -> loops().resetReports().thenApply(done -> "Connection stats reset.\n")));
    }

    private Map.Entry<String, Word> longWord(String letters, Supplier<CompletionStage<String>> text) {
        return Map.entry(letters, new Word(longOnes, text));
    }

    private Map.Entry<String, Word> shortWord(String letters, Supplier<CompletionStage<String>> text) {
        return Map.entry(letters, new Word(shortOnes, text));
    }

    private Loops loops() {
        return connections.get().loops();
    }

    private CompletionStage<List<ConnectionReport>> reports() {
        return loops().reports();
    }

    private CompletionStage<String> ofWatches(Function<WatchReport, String> text) {
        return made(loops().watches(), watches -> text.apply(WatchReport.of(watches)));
    }

    private CompletionStage<String> ofTotals(Function<ConnectionTotals, String> text) {
        return made(loops().totals(), text);
    }

    private CompletionStage<String> statistics() {
        return reports()
                .thenCompose(each -> ofTotals(sums -> server.heading() + clients(each) + server.statistics(sums)));
    }

    private CompletionStage<String> made(Supplier<String> text) {
        return made(CompletableFuture.completedStage(true), known -> text.get());
    }

    /** A text of what was gathered from the loops; it is not made on one of them. */
    private <T> CompletionStage<String> made(CompletionStage<T> gathered, Function<T, String> text) {
        return gathered.thenApplyAsync(text, texts).exceptionally(this::busy);
    }

    private String busy(Throwable failure) {
        Throwable cause = MembershipRequests.causeOf(failure);
        if (cause instanceof RejectedExecutionException) {
            server.wordFoundNoRoom();
            return WordTurns.BUSY;
        }
        throw new CompletionException(cause);
    }

    @Override
    public boolean isWord(String letters) {
        return KNOWN.contains(letters);
    }

    @Override
    public int argumentBytes(String word) {
        return word.equals("stmk") && isAllowed(word) ? Long.BYTES : 0;
    }

    @Override
    public CompletionStage<String> answer(String word, byte[] argument, String host) {
        if (!isAllowed(word)) {
            return CompletableFuture.completedStage(word + " is not executed because it is not in the whitelist.\n");
        }
        return switch (word) {
            case "ruok" -> CompletableFuture.completedStage("imok");
            case "isro" -> CompletableFuture.completedStage(readOnly(server.mode()));
            case "gtmk" -> CompletableFuture.completedStage(Long.toString(traceMask.get()));
            case "stmk" -> CompletableFuture.completedStage(Long.toString(traced(argument)));
            case "envi" -> shortOnes.answer(host, () -> made(description::environment));
            default -> answerWhileServing(word, host);
        };
    }

    private CompletionStage<String> answerWhileServing(String letters, String host) {
        Word word = whileServing.get(letters);
        if (word == null) {
            return CompletableFuture.completedStage(letters + " is not supported by this server.\n");
        }
        if (server.mode() == ServiceMode.NONE) {
            return CompletableFuture.completedStage(notServing(letters));
        }
        return word.answer(host);
    }

    /** ZooKeeper's line first, for tools that look for it. */
    private String notServing(String word) {
        String reason = server.noLeaderReason();
        if (server.readsState()) {
            return switch (word) {
                case "srvr" -> NOT_SERVING + "Reading the state of a snapshot that another server sent\n";
                case "mntr" -> NOT_SERVING + "zk_conclave_reading_state\t1\n";
                default -> NOT_SERVING;
            };
        }
        int disk = server.disk(); // one without room is behind a leader that has
        return switch (word) {
            case "srvr" ->
                NOT_SERVING + line("No leader: ", reason) + (disk == 0 ? "" : "Its disk has no room for the log\n");
            case "mntr" ->
                NOT_SERVING
                        + line("zk_no_leader_reason\t", reason)
                        + (disk == 0 ? "" : "zk_conclave_disk\t" + disk + "\n");
            default -> NOT_SERVING;
        };
    }

    private static String line(String name, String value) {
        return value.isEmpty() ? "" : name + value + "\n";
    }

    private long traced(byte[] argument) {
        traceMask.set(ByteBuffer.wrap(argument).getLong());
        return traceMask.get();
    }

    /**
     * As in ZooKeeper, srvr is always allowed, since its scripts ask it, and isro, where there is a read-only mode at
     * all, since clients that look for a server do.
     */
    private boolean isAllowed(String word) {
        return allowed.contains(word)
                || allowed.contains("*")
                || word.equals("srvr")
                || (word.equals("isro") && server.mayBeReadOnly());
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
            if (client.client().sessionId() != 0) {
                text.append(details(client));
            }
            text.append(")\n");
        }
        return text.append('\n').toString();
    }

    private static String line(ConnectionReport client) {
        return String.format(
                Locale.ROOT,
                " %s[%d](queued=%d,recved=%d,sent=%d",
                client.client().address(),
                client.client().attached() ? 1 : 0,
                client.queued(),
                client.received(),
                client.sent());
    }

    private static String details(ConnectionReport client) {
        String lastXid = client.lastXid() < 0 ? "" : ",lcxid=0x" + Long.toHexString(client.lastXid());
        return String.format(
                Locale.ROOT,
                ",sid=0x%x,lop=%s,est=%d,to=%d%s,lzxid=0x%x,lresp=%d,llat=%d,minlat=%d,avglat=%d,maxlat=%d",
                client.client().sessionId(),
                client.lastOperation(),
                client.establishedMs(),
                client.client().timeoutMs(),
                lastXid,
                client.lastZxid(),
                client.lastResponseMs(),
                client.lastLatencyMs(),
                client.minLatencyMs(),
                client.averageLatencyMs(),
                client.maxLatencyMs());
    }
}
