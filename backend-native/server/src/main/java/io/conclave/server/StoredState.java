package io.conclave.server;

import io.conclave.consensus.LogContents;
import io.conclave.consensus.LogException;
import io.conclave.consensus.disk.RealDisk;
import io.conclave.consensus.ensemble.OfflineLog;
import io.conclave.replica.Replica;
import io.conclave.tree.TreeFormatException;
import io.conclave.tree.TreeState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What the files of a server have that does not run, found out without touching them. */
public final class StoredState {
    private StoredState() {}

    /**
     * A log that was read.
     *
     * @param log what is said of it
     * @param state after its last entry, known to be committed or not
     */
    public record Contents(LogContents log, TreeState state) {}

    /** The directory of the log in a dataDir, or the directory itself if it is that of a log. Blocks. */
    public static Optional<Path> logIn(Path directory) {
        return Optional.of(directory).filter(StoredState::isLog).or(() -> Optional.of(
                        directory.resolve(ConfigFile.LOG_DIRECTORY))
                .filter(StoredState::isLog));
    }

    private static boolean isLog(Path directory) {
        return Files.exists(directory.resolve("identity"));
    }

    /**
     * Reads a log as a start would, and changes nothing. Blocks; needs a heap for the state.
     *
     * @throws LogException if there is none, it is in use, or a server could not start on it
     */
    public static Contents read(Path directory) {
        Replica replica = new Replica(ConclaveServer.FEATURE_LEVEL);
        LogContents log = OfflineLog.read(RealDisk.in(directory), ConclaveServer.FEATURE_LEVEL, replica);
        return new Contents(log, checked(directory, replica));
    }

    /**
     * Reads a snapshot's file. Blocks; needs a heap for the state.
     *
     * @throws LogException if it is damaged
     */
    public static TreeState readSnapshot(Path file) {
        Path absolute = file.toAbsolutePath();
        Path directory = absolute.getParent();
        if (directory == null) {
            throw new LogException(file + " is no snapshot");
        }
        Replica replica = new Replica(ConclaveServer.FEATURE_LEVEL);
        try {
            OfflineLog.readSnapshot(RealDisk.in(directory), String.valueOf(absolute.getFileName()), replica);
        } catch (TreeFormatException e) {
            throw new LogException(file + ": the state in it cannot be read: " + e.getMessage(), e);
        }
        return checked(file, replica);
    }

    private static TreeState checked(Path path, Replica replica) {
        TreeState state = replica.state();
        if (!state.hasRightDigest()) {
            throw new LogException(
                    path + ": the state does not have the digest that was stored with it; is the memory damaged?");
        }
        return state;
    }
}
