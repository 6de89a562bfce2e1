package io.conclave.launcher;

import io.conclave.connection.FeatureLevelService;
import io.conclave.consensus.entry.EnsembleMember;
import io.conclave.replica.MemberLine;
import io.conclave.replica.MemberList;
import io.conclave.replica.MembershipWords;
import io.conclave.server.AdminSecret;
import io.conclave.server.LogMaintenance;
import io.conclave.server.PeerSecretFile;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Commands about the cluster and its members. Those that change it go to the running server of this dataDir. */
final class ClusterCommands {
    private ClusterCommands() {}

    static int init(Console console, Path file, ServerConfig config, String none) {
        Optional<Path> secret = LogMaintenance.bootstrap(config, TimeSource.system());
        int self = config.ensemble().memberId();
        console.say("Bootstrapped a new cluster in " + config.dataDirectory().orElseThrow() + ", with member " + self
                + ".");
        console.say(whatToDoNext(file, config, secret));
        return Main.DONE;
    }

    /** What follows once a cluster was made here, perhaps with its secret. */
    static String whatToDoNext(Path file, ServerConfig config, Optional<Path> madeSecret) {
        String made = madeSecret
                .map(secret -> "Made the cluster's secret: " + secret + " (mode 600). Members prove to each other that"
                        + " they have it, and anyone who has it can be a member.\n")
                .orElse("");
        if (config.ensemble().isAlone()) {
            return made + "Start it: conclave-server start " + file;
        }
        int self = config.ensemble().memberId();
        List<Integer> others = config.ensemble().members().keySet().stream()
                .filter(id -> id != self)
                .toList();
        String copy = madeSecret.isPresent()
                ? "Copy that file to the servers " + others + ", each to its own dataDir, with mode 600.\n"
                : "";
        return made + copy + "Start it here: conclave-server start " + file + "\nThen start the servers " + others
                + ", with empty directories and without init: this one takes them in.";
    }

    static int newSecret(Console console, Path file, ServerConfig config, String none) {
        PeerSecretFile secret = PeerSecretFile.of(config);
        if (!secret.isNeeded()) {
            return console.fail("Members have no secret by " + file + ": it has no line server.N, or it says"
                    + " peerAuthentication=none.");
        }
        boolean first = secret.makeIfMissing();
        if (!first) {
            secret.addNew();
        }
        console.say((first ? "Made the cluster's secret: " : "Put a new secret in front of the present one: ")
                + secret.path() + " (mode 600).\nCopy this file to all other servers."
                + (first
                        ? " Then restart one after the other."
                        : " Each reads it within seconds, and logs that. When all have, delete its last line, the"
                                + " old secret, everywhere."));
        return Main.DONE;
    }

    static int setAside(Console console, Path file, ServerConfig config, String none) {
        if (ServerFiles.of(config).running().isPresent()) {
            return console.fail("The server runs; stop it first.");
        }
        List<String> names = LogMaintenance.setLogAside(config);
        console.say("Put away in " + config.dataDirectory().orElseThrow() + ": " + String.join(", ", names)
                + (config.ensemble().isAlone()
                        ? "\nThe others take the server in, but " + file
                                + " lists none: add their server.N lines before"
                                + " the next start (members on one of them prints them)."
                        : "\nAt its next start the server waits to be taken in by the others.")
                + " They must be a majority without it.");
        return Main.DONE;
    }

    static int trustLog(Console console, Path file, ServerConfig config, String none) {
        if (ServerFiles.of(config).running().isPresent()) {
            return console.fail("The server runs; stop it first.");
        }
        if (LogMaintenance.trustLog(config)) {
            console.say("What another server has claimed of the disk of "
                    + config.dataDirectory().orElseThrow()
                    + " is not believed: its server takes part again.\nIf the disk was set back to an older state,"
                    + " writes that it had acknowledged since may be lost.");
            return Main.DONE;
        }
        console.say(
                "The log in " + config.dataDirectory().orElseThrow() + " counts as whole again, and its server's vote"
                        + " as complete.\nIf the end of it was damaged, and not just being written, then writes of that"
                        + " moment that were acknowledged are lost, unless a server that can be reached has them.");
        return Main.DONE;
    }

    private interface Request {
        String send(AdminClient client) throws IOException;
    }

    static int members(Console console, Path file, ServerConfig config, String none) {
        return ask(console, config, AdminClient::members);
    }

    static int add(Console console, Path file, ServerConfig config, String argument) {
        String line = unforced(argument);
        int id = idOf(line);
        EnsembleMember wanted =
                MemberLine.parse(id, line.substring(line.indexOf('=') + 1)).member();
        return ask(console, config, client -> {
            String members = client.members();
            if (lineOf(members, id).isPresent()) {
                throw new IOException("server " + id + " is a member already; replace gives it another address");
            }
            requireOwnAddress(wanted, members);
            return client.reconfig(argument, "");
        });
    }

    static int replace(Console console, Path file, ServerConfig config, String argument) {
        String line = unforced(argument);
        int id = idOf(line);
        EnsembleMember wanted =
                MemberLine.parse(id, line.substring(line.indexOf('=') + 1)).member();
        return ask(console, config, client -> {
            requireMember(client, id);
            requireOwnAddress(wanted, client.members());
            return client.reconfig(argument, "");
        });
    }

    static int promote(Console console, Path file, ServerConfig config, String argument) {
        String number = unforced(argument);
        int id = MembershipWords.id(number);
        return ask(console, config, client -> {
            String line = requireMember(client, id);
            MemberLine present = MemberLine.parse(id, line);
            return client.reconfig(
                    (argument.equals(number) ? "" : MembershipWords.FORCE) + "server." + id + "="
                            + MemberList.format(present.member(), true),
                    "");
        });
    }

    static int remove(Console console, Path file, ServerConfig config, String argument) {
        int id = MembershipWords.id(unforced(argument));
        return ask(console, config, client -> {
            requireMember(client, id);
            return client.reconfig("", argument);
        });
    }

    static int raiseLevel(Console console, Path file, ServerConfig config, String none) {
        return ask(console, config, client -> {
            String answer = client.raiseLevel();
            if (answer.startsWith(FeatureLevelService.NOT_RAISED)) {
                throw new IOException(answer.substring(FeatureLevelService.NOT_RAISED.length()));
            }
            return answer;
        });
    }

    private static String unforced(String argument) {
        return argument.startsWith(MembershipWords.FORCE)
                ? argument.substring(MembershipWords.FORCE.length())
                : argument;
    }

    private static String requireMember(AdminClient client, int id) throws IOException {
        String members = client.members();
        return lineOf(members, id)
                .orElseThrow(() -> new IOException("there is no server " + id + " among\n" + members));
    }

    /** The server refuses it as well, but its answer has no room for the reason. */
    static void requireOwnAddress(EnsembleMember wanted, String members) throws IOException {
        for (String line : members.lines().toList()) {
            if (line.startsWith("server.") && idOf(line) != wanted.id()) {
                EnsembleMember other = MemberLine.parse(idOf(line), line.substring(line.indexOf('=') + 1))
                        .member();
                Optional<String> address = wanted.addressOf(other);
                if (address.isPresent()) {
                    throw new IOException("server " + other.id() + " has the address " + address.get()
                            + " already, so server " + wanted.id() + " needs another one; or remove server "
                            + other.id() + " first");
                }
            }
        }
    }

    private static Optional<String> lineOf(String members, int id) {
        String prefix = "server." + id + "=";
        return members.lines()
                .filter(line -> line.startsWith(prefix))
                .map(line -> line.substring(prefix.length()))
                .findFirst();
    }

    private static int idOf(String line) {
        int equals = line.indexOf('=');
        if (equals < 0 || !line.startsWith("server.")) {
            throw new IllegalArgumentException("\"" + line + "\" is not of the form server.N=host:peerPort...");
        }
        return MembershipWords.id(line.substring("server.".length(), equals));
    }

    private static int ask(Console console, ServerConfig config, Request request) {
        ServerFiles files = ServerFiles.of(config);
        Optional<ServerFiles.Running> running = files.running();
        if (running.isEmpty()) {
            return console.fail("No server of " + files.directory() + " runs; ask on a machine where one does.");
        }
        try (AdminClient client =
                new AdminClient(Daemon.address(config, running.get().port()), AdminSecret.read(files.directory()))) {
            console.say(request.send(client).strip());
            return Main.DONE;
        } catch (AdminClient.NoAnswerException e) {
            return console.fail(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return console.fail("Not done: " + e.getMessage());
        }
    }
}
