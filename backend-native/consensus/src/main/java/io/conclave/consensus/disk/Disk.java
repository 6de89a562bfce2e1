package io.conclave.consensus.disk;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * One directory of files. Names are plain, without separators. All methods block; they may be called from any thread,
 * but one file is written by one thread at a time.
 *
 * <p>What survives a power failure: a file's bytes once {@link DiskFile#sync} or {@link DiskFile#writeSynced} has
 * returned; the creation, renaming or deletion of a name once {@link #syncDirectory} has returned. Anything else may be
 * lost, in any part and any order. {@link DiskFullException} stands for a lack of room; any other
 * {@link IOException} of a write or sync means that the file's state is unknown, and must not be tried again.
 */
public interface Disk {

    /** The names in the directory, in no order. */
    List<String> list() throws IOException;

    /** Opens an existing file for reading and writing. */
    DiskFile open(String name) throws IOException;

    /** Creates a file that must not exist. */
    DiskFile create(String name) throws IOException;

    /** Gives a file another name, replacing a file of that name in one step. */
    void rename(String from, String to) throws IOException;

    /** Deletes a file; fine if it is not there. */
    void delete(String name) throws IOException;

    /** Makes creations, renamings and deletions durable. */
    void syncDirectory() throws IOException;

    /**
     * Locks the directory against other processes (and other users in this one) by a lock on the named file; released
     * by closing, and by the process's end.
     *
     * @throws DirectoryInUseException if another process or log holds it
     */
    Closeable lock(String name) throws IOException;

    /** The full path of a file, for messages. */
    String describe(String name);
}
