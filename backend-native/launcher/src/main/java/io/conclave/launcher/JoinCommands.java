package io.conclave.launcher;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.server.PeerSecretFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Commands that give the cluster's secret to a new server, by a token that is valid once. */
final class JoinCommands {
    private static final String MINUTES = "--minutes";
    private static final int DEFAULT_MINUTES = 60;
    private static final int MOST_MINUTES = 7 * 24 * 60;

    private JoinCommands() {}

    /** The token is all that goes to the standard output, so that it can be handed on by a pipe. */
    static int joinToken(Console console, Path file, ServerConfig config, List<String> words) {
        int minutes = minutesIn(words);
        PeerSecretFile secret = PeerSecretFile.of(config);
        if (!secret.isNeeded()) {
            return console.fail(noSecret(file));
        }
        if (ServerFiles.of(config).running().isEmpty()) {
            return console.fail("No server of " + ServerFiles.of(config).directory()
                    + " runs; make the token on a machine where one does.");
        }
        JoinToken token = secret.newToken(Duration.ofMinutes(minutes), TimeSource.system());
        console.note("Valid once, for " + minutes + " minutes. On the new server, with this on the standard input:"
                + " conclave-server join <configuration file>");
        console.say(token.text());
        return Main.DONE;
    }

    private static String noSecret(Path file) {
        return "Members have no secret by " + file + ": it has no line server.N, or it says peerAuthentication=none.";
    }

    private static int minutesIn(List<String> words) {
        if (words.isEmpty()) {
            return DEFAULT_MINUTES;
        }
        if (words.size() == 2 && words.get(0).equals(MINUTES)) {
            try {
                int minutes = Integer.parseInt(words.get(1));
                if (minutes >= 1 && minutes <= MOST_MINUTES) {
                    return minutes;
                }
            } catch (NumberFormatException e) {
                // said below
            }
        }
        throw new IllegalArgumentException("what follows can be " + MINUTES + " N, with N from 1 to " + MOST_MINUTES
                + ", not " + String.join(" ", words));
    }

    /** Not with the token on the command line, where every user of the machine can read it. */
    static int join(Console console, Path file, ServerConfig config, List<String> words) {
        PeerSecretFile secret = PeerSecretFile.of(config);
        if (!secret.isNeeded()) {
            return console.fail(noSecret(file));
        }
        secret.requireMissing();
        JoinToken token = JoinToken.parse(words.isEmpty() ? fromInput(console) : fromFile(Path.of(words.get(0))));
        int self = config.ensemble().memberId();
        EnsembleMember issuer = config.ensemble().members().get(token.issuer());
        if (issuer == null || token.issuer() == self) {
            return console.fail("The token was made by server " + token.issuer() + ", which "
                    + (issuer == null ? "has no line in " + file : "is this one") + ".");
        }
        secret.fetch(issuer, token);
        console.say("Server " + token.issuer() + " gave the cluster's secret: " + secret.path() + " (mode 600).\nStart"
                + " this server with an empty directory: conclave-server start " + file);
        return Main.DONE;
    }

    /** It is not named: it may go into a log. */
    static void requireNoToken(String word) {
        if (JoinToken.isTokenLike(word)) {
            throw new IllegalArgumentException("a join token cannot stand on the command line, where every user of the"
                    + " machine can read it: remove its file on the server that has made it, make another one, and"
                    + " give that by the standard input or a file");
        }
    }

    private static String fromFile(Path file) {
        requireNoToken(file.toString());
        try {
            return Files.readString(file, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(file + ", the join token, cannot be read: " + e, e);
        }
    }

    private static String fromInput(Console console) {
        console.note("The join token is read from the standard input.");
        try {
            String line = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII)).readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new UncheckedIOException("the join token cannot be read from the standard input: " + e, e);
        }
    }
}
