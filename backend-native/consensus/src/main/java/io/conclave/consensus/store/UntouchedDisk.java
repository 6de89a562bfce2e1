package io.conclave.consensus.store;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A disk as it is, with all changes kept in memory and forgotten in the end: so that a log can be recovered to see what
 * is in it, and stays as it was. Only the lock is real. For one thread.
 */
public final class UntouchedDisk implements Disk {
    private static final int BLOCK_BYTES = 4096;

    private final Disk real;
    private final Map<String, Content> names = new HashMap<>();

    /** What a name stands for: a real file, if it has one, and the blocks that were written since. */
    private static final class Content {
        final String realName;
        final Map<Long, byte[]> written = new HashMap<>();
        long size;

        Content(String realName, long size) {
            this.realName = realName;
            this.size = size;
        }
    }

    /** What is on the disk now; nothing may change it until this is not used any more. */
    public UntouchedDisk(Disk real) throws IOException {
        this.real = real;
        for (String name : real.list()) {
            names.put(name, new Content(name, -1));
        }
    }

    @Override
    public List<String> list() {
        return new ArrayList<>(names.keySet());
    }

    @Override
    public DiskFile open(String name) throws IOException {
        Content content = names.get(name);
        if (content == null) {
            throw new NoSuchFileException(describe(name));
        }
        if (content.realName.isEmpty()) {
            return new OverlaidFile(content, null);
        }
        DiskFile file = real.open(content.realName);
        if (content.size < 0) {
            content.size = file.size();
        }
        return new OverlaidFile(content, file);
    }

    @Override
    public DiskFile create(String name) throws IOException {
        if (names.containsKey(name)) {
            throw new FileAlreadyExistsException(describe(name));
        }
        Content content = new Content("", 0);
        names.put(name, content);
        return new OverlaidFile(content, null);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        Content content = names.remove(from);
        if (content == null) {
            throw new NoSuchFileException(describe(from));
        }
        names.put(to, content);
    }

    @Override
    public void delete(String name) {
        names.remove(name);
    }

    @Override
    public void syncDirectory() {}

    @Override
    public Closeable lock(String name) throws IOException {
        return real.lock(name);
    }

    @Override
    public String describe(String name) {
        return real.describe(name);
    }

    @Override
    public String toString() {
        return real.toString();
    }

    private static final class OverlaidFile implements DiskFile {
        private final Content content;
        private final @Nullable DiskFile file;

        OverlaidFile(Content content, @Nullable DiskFile file) {
            this.content = content;
            this.file = file;
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            int count = 0;
            while (target.hasRemaining() && position + count < content.size) {
                count += readPart(target, position + count);
            }
            return count;
        }

        /** Up to the end of the block or, where none was written, of all such blocks that are asked for. */
        private int readPart(ByteBuffer target, long position) throws IOException {
            long number = position / BLOCK_BYTES;
            int from = (int) (position % BLOCK_BYTES);
            byte[] block = content.written.get(number);
            long end = (number + 1) * BLOCK_BYTES;
            if (block == null) {
                while (end < position + target.remaining() && !content.written.containsKey(end / BLOCK_BYTES)) {
                    end += BLOCK_BYTES;
                }
            }
            int length = (int) Math.min(target.remaining(), Math.min(end, content.size) - position);
            if (block != null) {
                target.put(block, from, length);
            } else {
                readReal(target, position, length);
            }
            return length;
        }

        /** What the real file does not have is a hole. */
        private void readReal(ByteBuffer target, long position, int length) throws IOException {
            ByteBuffer part = target.slice(target.position(), length);
            if (file != null) {
                file.read(part, position);
            }
            while (part.hasRemaining()) {
                part.put((byte) 0);
            }
            target.position(target.position() + length);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            long at = position;
            while (source.hasRemaining()) {
                int from = (int) (at % BLOCK_BYTES);
                int length = Math.min(source.remaining(), BLOCK_BYTES - from);
                source.get(block(at / BLOCK_BYTES), from, length);
                at += length;
                content.size = Math.max(content.size, at);
            }
        }

        private byte[] block(long number) throws IOException {
            byte[] present = content.written.get(number);
            if (present != null) {
                return present;
            }
            byte[] block = new byte[BLOCK_BYTES];
            readReal(ByteBuffer.wrap(block), number * BLOCK_BYTES, BLOCK_BYTES);
            content.written.put(number, block);
            return block;
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            write(source, position);
        }

        @Override
        public void sync() {}

        @Override
        public long size() {
            return content.size;
        }

        @Override
        public void close() throws IOException {
            if (file != null) {
                file.close();
            }
        }
    }
}
