package io.conclave.launcher;

import io.conclave.consensus.JoinToken;
import io.conclave.consensus.LogException;
import io.conclave.replica.MembershipWords;
import io.conclave.server.ConfigException;
import io.conclave.server.ConfigFile;
import io.conclave.server.ServerConfig;
import io.conclave.server.ServerStartException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The command line: {@code conclave-server <command> <configuration file> [argument]}. Exit status: 0 when it was done,
 * 1 if it failed, 2 for a wrong command line or configuration; {@code start-foreground} ends with that of the signal
 * after an orderly end (143 for SIGTERM); {@code status} gives 3 for a server that runs and does not serve.
 */
public final class Main {
    static final int DONE = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    private static final String CONFIGURATION = "configuration file";

    /** What a command does with the configuration and what follows it on the command line. */
    private interface Action {
        int run(Console console, Path file, ServerConfig config, String argument);
    }

    /** The same for one that takes more words. */
    private interface LongAction {
        int run(Console console, Path file, ServerConfig config, List<String> words);
    }

    /** What a command does with its first word, which names a configuration, another file, or none. */
    private interface WordAction {
        int run(Console console, String first, List<String> words);
    }

    /**
     * @param first how the usage calls the first word
     * @param argument how the usage calls what follows it; empty if nothing does
     * @param least words that follow it
     * @param most words that follow it
     */
    private record Command(String first, String argument, int least, int most, String purpose, WordAction action) {
        boolean takes(List<String> words) {
            return words.size() >= least && words.size() <= most;
        }
    }

    private static final Map<String, Command> COMMANDS = new TreeMap<>(Map.ofEntries(
            command("init", "", "makes a new cluster, on one of its servers, once", ClusterCommands::init),
            command(
                    "new-secret",
                    "",
                    "makes a secret of the members, in front of the present one if there is one",
                    ClusterCommands::newSecret),
            command(
                    "join-token",
                    "[--minutes N]",
                    0,
                    2,
                    "prints a token with which one new server is given the secret",
                    JoinCommands::joinToken),
            command(
                    "join",
                    "[FILE]",
                    0,
                    1,
                    "fetches the secret with the token in FILE or the standard input",
                    JoinCommands::join),
            command("start", "", "starts the server in the background", Daemon::start),
            command("start-foreground", "", "serves until a signal ends it", Foreground::serve),
            command("stop", "", "ends the server of this dataDir in order", Daemon::stop),
            command("status", "", "says what the server does", Daemon::status),
            command(
                    "trust-log",
                    "",
                    "counts a log as whole that is torn, or said to be an old one, as the last resort",
                    ClusterCommands::trustLog),
            command(
                    "set-aside",
                    "",
                    "sets a damaged log aside, so that the server can join anew",
                    ClusterCommands::setAside),
            command("members", "", "lists the cluster's members", ClusterCommands::members),
            command("add", "server.N=host:port...", "takes a server in", ClusterCommands::add),
            command(
                    "replace",
                    "server.N=host:port...",
                    "gives a member another address or role",
                    ClusterCommands::replace),
            command("promote", "N", "gives an observer a vote", ClusterCommands::promote),
            command("remove", "N", "lets a member go", ClusterCommands::remove),
            command(
                    "raise-level",
                    "",
                    "ends the time in which an upgrade can be taken back, on the leader",
                    ClusterCommands::raiseLevel),
            command("backup", "FILE", 1, 1, "copies the state of the running server", RecoveryCommands::backup),
            command(
                    "restore",
                    "FILE [--generation N]",
                    1,
                    3,
                    "makes a new cluster from a backup, in an empty dataDir",
                    RecoveryCommands::restore),
            command(
                    "import",
                    "DATADIR [DATALOGDIR]",
                    1,
                    2,
                    "makes a new cluster from the files of a ZooKeeper server, in an empty dataDir",
                    RecoveryCommands::importZooKeeper),
            command(
                    "force-new-cluster",
                    "[--yes]",
                    0,
                    3,
                    "makes a new cluster of this server's log, when a majority is lost for good",
                    RecoveryCommands::forceNewCluster),
            Map.entry(
                    "export",
                    new Command(
                            "file",
                            "TARGET",
                            1,
                            1,
                            "writes a backup, a snapshot or a stopped server's znodes as JSON lines",
                            (console, file, words) -> RecoveryCommands.export(console, Path.of(file), words))),
            Map.entry(
                    "digest",
                    new Command(
                            "user",
                            "[--algorithm NAME]",
                            0,
                            2,
                            "prints the id of a user with the password in the standard input",
                            DigestCommand::digest)),
            Map.entry(
                    "verify",
                    new Command(
                            "file",
                            "",
                            0,
                            0,
                            "checks a backup, a snapshot or a log, without a server",
                            (console, file, words) -> RecoveryCommands.verify(console, Path.of(file), words)))));

    private Main() {}

    /** One that takes no word but the configuration, or one more and perhaps {@code --force}. */
    private static Map.Entry<String, Command> command(String name, String argument, String purpose, Action action) {
        boolean takesOne = !argument.isEmpty();
        return command(
                name,
                argument,
                takesOne ? 1 : 0,
                takesOne ? 2 : 0,
                purpose,
                (console, file, config, words) -> action.run(console, file, config, argumentOf(words)));
    }

    private static Map.Entry<String, Command> command(
            String command, String argument, int least, int most, String purpose, LongAction action) {
        return Map.entry(command, new Command(CONFIGURATION, argument, least, most, purpose, (console, name, words) -> {
            JoinCommands.requireNoToken(name);
            Path file = Path.of(name);
            return action.run(console, file, ConfigFile.read(file), words);
        }));
    }

    /** Called by the JVM. Returns only if the command has been done or could not be. */
    public static void main(String[] arguments) {
        int status = run(arguments, System.out, System.err);
        if (status != DONE) {
            System.exit(status);
        }
    }

    static int run(String[] arguments, PrintStream out, PrintStream err) {
        List<String> all = List.of(arguments);
        Command command = all.isEmpty() ? null : COMMANDS.get(all.get(0));
        if (command == null || all.size() < 2 || !command.takes(all.subList(2, all.size()))) {
            err.println(problemOf(all, command) + "\n" + usage());
            return USAGE;
        }
        try {
            return command.action().run(new Console(out, err), all.get(1), all.subList(2, all.size()));
        } catch (LogException | ServerStartException | UncheckedIOException e) {
            err.println(e.getMessage());
            return FAILED;
        } catch (ConfigException | IllegalArgumentException e) {
            err.println(e.getMessage());
            return USAGE;
        } catch (OutOfMemoryError e) {
            err.println(all.get(0) + " did not come to its end: it needs more memory than the "
                    + (Runtime.getRuntime().maxMemory() >> 20) + " MB of its heap (" + e.getMessage()
                    + "). Give it as much as the server has: JVM_FLAGS=-Xmx...");
            return FAILED;
        }
    }

    private static String argumentOf(List<String> words) {
        if (words.isEmpty()) {
            return "";
        }
        if (words.size() == 1) {
            return words.get(0);
        }
        if (!words.get(1).equals("--force")) {
            throw new IllegalArgumentException(
                    "\"" + words.get(1) + "\" cannot follow " + words.get(0) + "; only --force can");
        }
        return MembershipWords.FORCE + words.get(0);
    }

    private static String problemOf(List<String> arguments, @org.jspecify.annotations.Nullable Command command) {
        if (arguments.isEmpty()) {
            return "A command is missing.";
        }
        String name = arguments.get(0);
        if (command == null) {
            return JoinToken.isTokenLike(name) ? "A command is missing." : "The command \"" + name + "\" is unknown.";
        }
        if (arguments.size() == 1) {
            return name + " needs a " + command.first() + ".";
        }
        return command.argument().isEmpty()
                ? name + " takes one " + command.first() + " and nothing else."
                : name + " needs a " + command.first() + " and " + command.argument() + ", and nothing else.";
    }

    private static String usage() {
        StringBuilder text = new StringBuilder("usage: conclave-server <command> <configuration file>\n");
        COMMANDS.forEach((name, command) ->
                text.append(String.format("  %-16s %-22s %s%n", name, command.argument(), command.purpose())));
        return text.append("add, replace, promote and remove take --force at the end: make the change also if the"
                        + " servers that would vote then do not answer\nverify and export take the file to be read in "
                        + "place of the configuration; digest takes a user there, and never a password\n")
                .toString();
    }
}
