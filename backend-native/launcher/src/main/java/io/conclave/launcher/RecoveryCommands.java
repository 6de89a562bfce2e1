package io.conclave.launcher;

import io.conclave.backup.BackupFile;
import io.conclave.backup.BackupReceiver;
import io.conclave.backup.BackupStream;
import io.conclave.backup.BackupSummary;
import io.conclave.backup.DamagedBackupException;
import io.conclave.backup.TreeExport;
import io.conclave.consensus.LogContents;
import io.conclave.importing.ForeignData;
import io.conclave.importing.ForeignDataException;
import io.conclave.server.AdminSecret;
import io.conclave.server.ClusterRestore;
import io.conclave.server.ConclaveServer;
import io.conclave.server.LogMaintenance;
import io.conclave.server.ServerConfig;
import io.conclave.server.StoredState;
import io.conclave.time.TimeSource;
import io.conclave.tree.TreeState;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Commands that keep a copy of the state, look at copies, and make a cluster of one. */
final class RecoveryCommands {
    private static final String GENERATION = "--generation";
    private static final String YES = "--yes";

    private static final int TENTHS = 10;

    /** Of less than this no progress is told. */
    private static final long LARGE_BYTES = 16 << 20;

    /** What a znode takes in a backup beside its path and data, about. */
    private static final int BYTES_PER_ZNODE = 80;

    private RecoveryCommands() {}

    // ---- backup

    static int backup(Console console, Path file, ServerConfig config, List<String> words) {
        Path target = Path.of(words.get(0));
        ServerFiles files = ServerFiles.of(config);
        Optional<ServerFiles.Running> running = files.running();
        if (running.isEmpty()) {
            return console.fail("No server of " + files.directory() + " runs; ask on a machine where one does.");
        }
        try (BackupReceiver receiver = BackupReceiver.to(target);
                AdminClient client = new AdminClient(
                        Daemon.address(config, running.get().port()), AdminSecret.read(files.directory()))) {
            client.sync();
            Progress progress = new Progress(console);
            for (byte[] piece = client.backupPiece(); piece.length > 0; piece = client.backupPiece()) {
                receiver.write(piece);
                receiver.summary().ifPresent(summary -> progress.report(receiver.length(), summary));
            }
            receiver.complete();
            console.say(target + ": " + receiver.length() + " bytes, whole and synced.\n"
                    + describe(receiver.summary().orElseThrow()));
            return Main.DONE;
        } catch (IOException e) {
            return console.fail("No backup was made: " + messageOf(e));
        }
    }

    /** Says each tenth of the way, as far as it can be known before the end. */
    private static final class Progress {
        private final Console console;
        private long told;

        Progress(Console console) {
            this.console = console;
        }

        void report(long length, BackupSummary summary) {
            long expected = summary.dataBytes() + BYTES_PER_ZNODE * summary.znodes();
            long tenths = Math.min(TENTHS - 1, TENTHS * length / Math.max(1, expected));
            if (tenths > told && expected >= LARGE_BYTES) {
                told = tenths;
                console.say(length + " bytes, about " + tenths + "0%");
            }
        }
    }

    private static String describe(BackupSummary summary) {
        return "cluster     " + summary.clusterId() + "\ngeneration  " + summary.generation() + "\nzxid        0x"
                + Long.toHexString(summary.zxid()) + " of term " + summary.term() + ", "
                + Instant.ofEpochMilli(summary.timeMs()) + "\nznodes      " + summary.znodes() + ", "
                + summary.ephemerals() + " of them ephemeral, of " + summary.sessions() + " sessions\ndigest      "
                + Long.toHexString(summary.digest());
    }

    /** Of ours the message says all; of others the class says what the message leaves out. */
    private static String messageOf(IOException e) {
        boolean ours = e.getClass() == IOException.class
                || e instanceof DamagedBackupException
                || e instanceof FileAlreadyExistsException
                || e instanceof AdminClient.NoAnswerException;
        return ours ? String.valueOf(e.getMessage()) : e.toString();
    }

    // ---- verify

    static int verify(Console console, Path file, List<String> none) {
        try {
            if (Files.isDirectory(file)) {
                return verifyLog(console, file);
            }
            if (!Files.isRegularFile(file)) {
                return console.fail(file + " is not there, or no file.");
            }
            if (String.valueOf(file.getFileName()).endsWith(".snap")) {
                TreeState state = StoredState.readSnapshot(file);
                console.say(file + ": a whole snapshot.\n" + describe(BackupSummary.of(state)));
            } else {
                BackupSummary summary = BackupFile.read(file).summary();
                console.say(file + ": a whole backup.\n" + describe(summary));
            }
            return Main.DONE;
        } catch (IOException e) {
            return console.fail(messageOf(e));
        }
    }

    // ---- export

    static int export(Console console, Path file, List<String> words) {
        Path target = Path.of(words.get(0));
        try {
            TreeState state = stateIn(file);
            long count;
            try (OwnersOutput out = OwnersOutput.to(target)) {
                count = TreeExport.write(state, out.text());
                out.complete();
            }
            console.say(target + ": " + count + " znodes, a line each.");
            return Main.DONE;
        } catch (IOException e) {
            return console.fail("Nothing was written: " + messageOf(e));
        }
    }

    /** Of a backup, a snapshot, or the dataDir of a server that does not run. */
    private static TreeState stateIn(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            Path log = StoredState.logIn(file).orElseThrow(() -> new IOException(file + " holds no log."));
            return StoredState.read(log).state();
        }
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + " is not there, or no file.");
        }
        return String.valueOf(file.getFileName()).endsWith(".snap")
                ? StoredState.readSnapshot(file)
                : BackupFile.read(file).state();
    }

    private static int verifyLog(Console console, Path directory) {
        Optional<Path> log = StoredState.logIn(directory);
        if (log.isEmpty()) {
            return console.fail(directory + " holds no log.");
        }
        StoredState.Contents contents = StoredState.read(log.get());
        console.say(log.get() + ": a server can start on this log.\n" + describe(contents.log()) + "\n"
                + describe(BackupSummary.of(contents.state())));
        return contents.log().damaged().isEmpty()
                ? Main.DONE
                : console.fail("Damaged, though not needed for a start:\n"
                        + String.join("\n", contents.log().damaged()));
    }

    private static String describe(LogContents log) {
        return "member      " + log.memberId() + " of the voters "
                + log.configuration().voters() + "\nlast entry  " + log.lastIndex() + " of term " + log.lastTerm()
                + ", "
                + Instant.ofEpochMilli(log.lastTimeMs()) + "\ncommitted   " + log.committedIndex()
                + ", as far as is known here"
                + (log.torn() ? "\ntorn        its end was torn: entries that it had acknowledged may be missing" : "");
    }

    // ---- restore

    static int restore(Console console, Path file, ServerConfig config, List<String> words) {
        OptionalLong generation = generationIn(words.subList(1, words.size()));
        ServerFiles files = ServerFiles.of(config);
        if (files.running().isPresent()) {
            return console.fail("The server runs; a backup is restored into the empty dataDir of one that does not.");
        }
        BackupFile.Contents backup;
        try {
            backup = BackupFile.read(Path.of(words.get(0)));
        } catch (IOException e) {
            return console.fail("Nothing was restored: " + messageOf(e));
        }
        ClusterRestore restore =
                ClusterRestore.prepare(config, backup.state(), Map.of(), generation, TimeSource.system());
        Optional<Path> secret = restore.write();
        console.say("Restored " + words.get(0) + " as a new cluster in "
                + config.dataDirectory().orElseThrow() + ":\n" + describe(BackupSummary.of(restore.state()))
                + "\nIts generation is greater than "
                + backup.summary().generation() + ", that of the backup. What was written after the backup is lost,"
                + " and so are the sessions with their " + backup.summary().ephemerals() + " ephemeral znodes.");
        console.say(ClusterCommands.whatToDoNext(file, config, secret));
        return Main.DONE;
    }

    // ---- import

    /** Reads a ZooKeeper server's directory, and goes on as {@link #restore} does. */
    static int importZooKeeper(Console console, Path file, ServerConfig config, List<String> words) {
        if (ServerFiles.of(config).running().isPresent()) {
            return console.fail("The server runs; data is imported into the empty dataDir of one that does not.");
        }
        Path snapshots = Path.of(words.get(0));
        ForeignData.Contents found;
        try {
            Path logs = words.size() > 1 ? Path.of(words.get(1)) : snapshots;
            found = ForeignData.read(snapshots, logs, ConclaveServer.FEATURE_LEVEL);
        } catch (IOException e) {
            return console.fail("Nothing was imported: " + foreignMessageOf(e));
        }
        found.notes().forEach(console::note);
        TreeState from = found.state();
        ClusterRestore restore =
                ClusterRestore.prepare(config, from, Map.of(), OptionalLong.empty(), TimeSource.system());
        Optional<Path> secret = restore.write();
        console.say("Read " + found.snapshot());
        found.logs().forEach(log -> console.say("Read " + log));
        console.say("Imported the snapshot and " + found.transactions()
                + " transactions behind it, up to 0x" + Long.toHexString(from.lastZxid()) + ", as a new cluster in "
                + config.dataDirectory().orElseThrow() + ":\n" + describe(BackupSummary.of(restore.state()))
                + "\nLeft out: " + found.sessions() + " sessions and "
                + from.ephemeralCount()
                + " ephemeral znodes. ZooKeeper's files were only read."
                + (found.isConfirmed()
                        ? "\nThe tree has the digest that ZooKeeper wrote with its last "
                                + (found.transactions() == 0 ? "snapshot." : "transaction.")
                        : ""));
        console.say(ClusterCommands.whatToDoNext(file, config, secret));
        return Main.DONE;
    }

    private static String foreignMessageOf(IOException e) {
        return e instanceof ForeignDataException ? String.valueOf(e.getMessage()) : messageOf(e);
    }

    // ---- force-new-cluster

    /** The backup is there before anything is changed: whatever fails behind it, restore goes on with that. */
    static int forceNewCluster(Console console, Path file, ServerConfig config, List<String> words) {
        boolean sure = !words.isEmpty() && words.get(0).equals(YES);
        OptionalLong generation = generationIn(sure ? words.subList(1, words.size()) : words);
        ServerFiles files = ServerFiles.of(config);
        if (files.running().isPresent()) {
            return console.fail("The server runs; stop it first.");
        }
        Path directory = config.dataDirectory().orElseThrow();
        if (StoredState.logIn(directory).isEmpty()) {
            return console.fail(directory + " holds no log.");
        }
        StoredState.Contents contents = StoredState.read(directory);
        console.say(describeLoss(contents));
        ClusterRestore restore = ClusterRestore.prepare(
                config, contents.state(), contents.log().configuration().members(), generation, TimeSource.system());
        if (!sure) {
            return console.fail("Nothing was changed. With " + YES + " at the end the new cluster is made.");
        }
        Path backup;
        try {
            backup = keep(contents.state(), files.directory());
        } catch (IOException e) {
            return console.fail("Nothing was changed, since no backup could be made: " + messageOf(e));
        }
        console.say("The state is in " + backup + ". If this command does not come to its end, restore that.");
        LogMaintenance.setLogAside(config);
        Optional<Path> secret = restore.write();
        console.say("Made a new cluster in " + directory + "; the earlier log is set aside there:\n"
                + describe(BackupSummary.of(restore.state())));
        console.say(ClusterCommands.whatToDoNext(file, config, secret));
        return Main.DONE;
    }

    private static Path keep(TreeState state, Path directory) throws IOException {
        String name = "forced-" + Long.toHexString(state.lastZxid());
        Path file = directory.resolve(name + ".backup");
        for (int attempt = 2; Files.exists(file); attempt++) {
            file = directory.resolve(name + "-" + attempt + ".backup");
        }
        try (BackupReceiver receiver = BackupReceiver.to(file)) {
            BackupStream stream = new BackupStream(state);
            for (byte[] piece = stream.next(); piece.length > 0; piece = stream.next()) {
                receiver.write(piece);
            }
            receiver.complete();
        }
        return file;
    }

    private static String describeLoss(StoredState.Contents contents) {
        LogContents log = contents.log();
        TreeState state = contents.state();
        return describe(log) + "\nThe new cluster begins with all " + log.lastIndex() + " entries; of the last "
                + (log.lastIndex() - log.committedIndex())
                + " it is not known whether a majority had them. What may be lost: all that the other servers have"
                + " acknowledged and this one has not received, so what was written around and after "
                + Instant.ofEpochMilli(log.lastTimeMs()) + ". If more than one server is left, take the one whose last"
                + " entry has the highest term, and of those the highest number. All "
                + state.sessions().size() + " sessions end, with their " + state.ephemeralCount()
                + " ephemeral znodes.";
    }

    private static OptionalLong generationIn(List<String> options) {
        if (options.isEmpty()) {
            return OptionalLong.empty();
        }
        if (options.size() != 2 || !options.get(0).equals(GENERATION)) {
            throw new IllegalArgumentException(
                    "what follows can be " + GENERATION + " N, not " + String.join(" ", options));
        }
        try {
            return OptionalLong.of(Long.parseLong(options.get(1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + options.get(1) + "\" is no generation: a number is needed", e);
        }
    }
}
