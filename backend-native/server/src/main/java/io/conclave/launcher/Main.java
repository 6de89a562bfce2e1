package io.conclave.launcher;

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

    /** What a command does with the configuration and what follows it on the command line. */
    private interface Action {
        int run(Console console, Path file, ServerConfig config, String argument);
    }

    /** @param argument how the usage calls what follows the configuration file; empty if nothing does */
    private record Command(String argument, String purpose, Action action) {}

    private static final Map<String, Command> COMMANDS = new TreeMap<>(Map.ofEntries(
            command("init", "", "makes a new cluster, on one of its servers, once", ClusterCommands::init),
            command(
                    "new-secret",
                    "",
                    "makes a secret of the members, in front of the present one if there is one",
                    ClusterCommands::newSecret),
            command("start", "", "starts the server in the background", Daemon::start),
            command("start-foreground", "", "serves until a signal ends it", Foreground::serve),
            command("stop", "", "ends the server of this dataDir in order", Daemon::stop),
            command("status", "", "says what the server does", Daemon::status),
            command(
                    "trust-log",
                    "",
                    "counts a log whose end was torn as whole, as the last resort",
                    ClusterCommands::trustLog),
            command(
                    "set-aside",
                    "",
                    "puts a damaged log away, so that the server can join anew",
                    ClusterCommands::setAside),
            command("members", "", "lists the cluster's members", ClusterCommands::members),
            command("add", "server.N=host:port...", "takes a server in", ClusterCommands::add),
            command(
                    "replace",
                    "server.N=host:port...",
                    "gives a member another address or role",
                    ClusterCommands::replace),
            command("promote", "N", "gives an observer a vote", ClusterCommands::promote),
            command("remove", "N", "lets a member go", ClusterCommands::remove)));

    private Main() {}

    private static Map.Entry<String, Command> command(String name, String argument, String purpose, Action action) {
        return Map.entry(name, new Command(argument, purpose, action));
    }

    /** Called by the JVM. Returns only if the command has been done or could not be. */
    public static void main(String[] arguments) {
        int status = run(arguments, System.out, System.err);
        if (status != DONE) {
            System.exit(status);
        }
    }

    static int run(String[] arguments, PrintStream out, PrintStream err) {
        Command command = arguments.length == 0 ? null : COMMANDS.get(arguments[0]);
        int wanted = command == null ? 2 : command.argument().isEmpty() ? 2 : 3;
        boolean forced = wanted == 3 && arguments.length == 4 && arguments[3].equals("--force");
        if (command == null || arguments.length != (forced ? 4 : wanted)) {
            err.println(problemOf(List.of(arguments), command) + "\n" + usage());
            return USAGE;
        }
        Path file = Path.of(arguments[1]);
        ServerConfig config;
        try {
            config = ConfigFile.read(file);
        } catch (ConfigException e) {
            err.println(e.getMessage());
            return USAGE;
        }
        try {
            return command.action().run(new Console(out, err), file, config, argumentOf(arguments, wanted, forced));
        } catch (LogException | ServerStartException | UncheckedIOException e) {
            err.println(e.getMessage());
            return FAILED;
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return USAGE;
        }
    }

    private static String argumentOf(String[] arguments, int wanted, boolean forced) {
        return wanted == 3 ? (forced ? MembershipWords.FORCE : "") + arguments[2] : "";
    }

    private static String problemOf(List<String> arguments, @org.jspecify.annotations.Nullable Command command) {
        if (arguments.isEmpty()) {
            return "A command is missing.";
        }
        String name = arguments.get(0);
        if (command == null) {
            return "The command \"" + name + "\" is unknown.";
        }
        if (arguments.size() == 1) {
            return name + " needs a configuration file.";
        }
        return command.argument().isEmpty()
                ? name + " takes one configuration file and nothing else."
                : name + " needs a configuration file and " + command.argument() + ", and nothing else.";
    }

    private static String usage() {
        StringBuilder text = new StringBuilder("usage: conclave-server <command> <configuration file>\n");
        COMMANDS.forEach((name, command) ->
                text.append(String.format("  %-16s %-22s %s%n", name, command.argument(), command.purpose())));
        return text.append("add, replace, promote and remove take --force at the end: make the change also if the"
                        + " servers that would vote then do not answer\n")
                .toString();
    }
}
