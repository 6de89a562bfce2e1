package io.conclave.launcher;

import io.conclave.backup.BackupFile;
import io.conclave.backup.BackupReceiver;
import io.conclave.backup.BackupSummary;
import io.conclave.backup.DamagedBackupException;
import io.conclave.server.AdminSecret;
import io.conclave.server.ClusterRestore;
import io.conclave.server.ServerConfig;
import io.conclave.time.TimeSource;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Commands that keep a copy of the state, look at copies, and make a cluster of one. */
final class RecoveryCommands {
    static final String GENERATION = "--generation";

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
            if (!Files.isRegularFile(file)) {
                return console.fail(file + " is no file.");
            }
            if (!BackupFile.isBackup(file)) {
                return console.fail(file + ": offset 0: it does not start as a backup does");
            }
            console.say(file + ": a whole backup.\n"
                    + describe(BackupFile.read(file).summary()));
            return Main.DONE;
        } catch (IOException e) {
            return console.fail(messageOf(e));
        }
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
        ClusterRestore.Restored restored =
                ClusterRestore.restore(config, backup.state(), generation, TimeSource.system());
        console.say("Restored " + words.get(0) + " as a new cluster in "
                + config.dataDirectory().orElseThrow() + ":\n" + describe(BackupSummary.of(restored.state()))
                + "\nIts generation is greater than "
                + backup.summary().generation() + ", that of the backup. What was written after the backup is lost,"
                + " and so are the sessions with their " + backup.summary().ephemerals() + " ephemeral znodes.");
        console.say(ClusterCommands.whatToDoNext(file, config, restored.secret()));
        return Main.DONE;
    }

    private static OptionalLong generationIn(List<String> options) {
        if (options.isEmpty()) {
            return OptionalLong.empty();
        }
        if (options.size() != 2 || !options.get(0).equals(GENERATION)) {
            throw new IllegalArgumentException(
                    "what follows the file can be " + GENERATION + " N, not " + String.join(" ", options));
        }
        try {
            return OptionalLong.of(Long.parseLong(options.get(1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + options.get(1) + "\" is no generation: a number is needed", e);
        }
    }
}
