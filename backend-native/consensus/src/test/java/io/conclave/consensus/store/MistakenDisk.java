package io.conclave.consensus.store;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.ForwardingDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Predicate;

/** A disk that leaves out a step as a careless log would, to see whether the simulation notices. */
final class MistakenDisk extends ForwardingDisk {
    private static final int TORN_AT = 12;
    private static final int DURABLE_AT = 56;
    private static final int BASE_AT = 80;
    private static final int CRC_AT = 120;

    private final Mistake mistake;

    /** The furthest durable mark that was written into the vote file, and the last one. */
    private LogPosition furthestMark = LogPosition.START;

    private LogPosition lastMark = LogPosition.START;
    private boolean markWentBack;

    /** What is left out. */
    enum Mistake {
        BATCH_ACKNOWLEDGED_BEFORE_SYNC,
        TORN_TAIL_NOT_CUT,
        RECOVERED_TAIL_NOT_SYNCED,
        DIRECTORY_NOT_SYNCED,
        SNAPSHOT_NOT_DURABLE_BEFORE_PURGE,
        SEGMENT_NOT_DURABLE_BEFORE_USE,
        VOTE_NOT_SYNCED,
        TORN_END_FORGOTTEN,
        CUT_NOT_ZEROED,
        CUT_NOT_SYNCED,
        CUT_FROM_FIRST_TO_LAST,
        MARK_NOT_MOVED_BACK_BEFORE_CUT,
        RECEIVED_SNAPSHOT_NOT_SYNCED,
        OLD_LOG_DELETED_BEFORE_INSTALL,
        BEGINNING_NOT_WRITTEN_AT_INSTALL,
        TAIL_NOT_WRITTEN_AGAIN,
        VOTE_NOT_WRITTEN_AGAIN
    }

    MistakenDisk(Disk disk, Mistake mistake) {
        super(disk);
        this.mistake = mistake;
    }

    @Override
    protected DiskFile wrap(String name, DiskFile file) {
        return new MistakenFile(file, name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        disk.rename(from, to);
        if (mistake == Mistake.OLD_LOG_DELETED_BEFORE_INSTALL && SnapshotFile.isReceived(to)) {
            for (String name : disk.list()) {
                if (Segment.idOf(name) >= 0) {
                    disk.delete(name);
                }
            }
        }
    }

    @Override
    public void syncDirectory() throws IOException {
        if (mistake != Mistake.DIRECTORY_NOT_SYNCED) {
            disk.syncDirectory();
        }
    }

    private final class MistakenFile extends ForwardingFile {
        private final String name;

        MistakenFile(DiskFile file, String name) {
            super(file);
            this.name = name;
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            boolean unwritten = mistake == Mistake.TAIL_NOT_WRITTEN_AGAIN && Segment.idOf(name) >= 0
                    || mistake == Mistake.VOTE_NOT_WRITTEN_AGAIN && name.equals(VoteFile.NAME);
            if (unwritten && (isThere(source, position) || isThere(source, position ^ 4096))) {
                return;
            }
            if (name.equals(VoteFile.NAME)) {
                file.write(mistakenVote(source), position);
            } else if (mistake != Mistake.TORN_TAIL_NOT_CUT || !name.endsWith(".log")) {
                file.write(source, position);
            }
        }

        private boolean isThere(ByteBuffer bytes, long position) throws IOException {
            ByteBuffer found = ByteBuffer.allocate(bytes.remaining());
            file.read(found, position);
            return found.flip().equals(bytes);
        }

        private ByteBuffer mistakenVote(ByteBuffer source) {
            ByteBuffer vote = ByteBuffer.allocate(source.remaining()).put(source.duplicate());
            LogPosition mark = new LogPosition(vote.getLong(DURABLE_AT), vote.getLong(DURABLE_AT + 8));
            markWentBack = mark.compareTo(lastMark) < 0;
            lastMark = mark;
            furthestMark = LogPosition.later(mark, furthestMark);
            switch (mistake) {
                case TORN_END_FORGOTTEN -> vote.putInt(TORN_AT, 0);
                case MARK_NOT_MOVED_BACK_BEFORE_CUT ->
                    vote.putLong(DURABLE_AT, furthestMark.segment()).putLong(DURABLE_AT + 8, furthestMark.offset());
                case BEGINNING_NOT_WRITTEN_AT_INSTALL ->
                    vote.putLong(BASE_AT, 1).putLong(BASE_AT + 8, 0);
                default -> {}
            }
            return vote.putInt(CRC_AT, Checksum.of(vote, 0, CRC_AT)).flip();
        }

        @Override
        public void writeSynced(ByteBuffer source, long position) throws IOException {
            boolean cutting = isZero(source);
            if (cutting && mistake == Mistake.CUT_NOT_ZEROED) {
                return;
            }
            if (mistake == (cutting ? Mistake.CUT_NOT_SYNCED : Mistake.BATCH_ACKNOWLEDGED_BEFORE_SYNC)) {
                file.write(source, position);
            } else {
                file.writeSynced(source, position);
            }
        }

        @Override
        public void sync() throws IOException {
            Predicate<String> skipped =
                    switch (mistake) {
                        case RECOVERED_TAIL_NOT_SYNCED -> n -> n.endsWith(".log");
                        case SNAPSHOT_NOT_DURABLE_BEFORE_PURGE -> n -> n.startsWith("snapshot-");
                        case SEGMENT_NOT_DURABLE_BEFORE_USE -> n -> n.startsWith("segment-") && n.endsWith(".tmp");
                        case RECEIVED_SNAPSHOT_NOT_SYNCED -> SnapshotFile::isReceived;
                        case VOTE_NOT_SYNCED -> n -> n.equals("vote");
                        default -> n -> false;
                    };
            if (!skipped.test(name)) {
                file.sync();
            }
            if (mistake == Mistake.CUT_FROM_FIRST_TO_LAST && name.equals(VoteFile.NAME) && markWentBack) {
                zeroBehindMark();
            }
        }

        private void zeroBehindMark() throws IOException {
            String segment = Segment.name(lastMark.segment());
            if (!disk.list().contains(segment)) {
                return;
            }
            try (DiskFile log = disk.open(segment)) {
                for (long at = lastMark.offset(); at < log.size(); at += LogFormat.SECTOR) {
                    ByteBuffer sector = ByteBuffer.allocate(LogFormat.SECTOR);
                    log.read(sector, at);
                    if (!isZero(sector.flip())) {
                        log.writeSynced(ByteBuffer.allocate(LogFormat.SECTOR), at);
                    }
                }
            }
        }

        private boolean isZero(ByteBuffer bytes) {
            return bytes.mismatch(ByteBuffer.allocate(bytes.remaining())) < 0;
        }
    }
}
