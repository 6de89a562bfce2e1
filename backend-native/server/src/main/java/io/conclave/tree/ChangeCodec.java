package io.conclave.tree;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes as bytes, for the log. The first byte is the version of the format; reading is strict, so that damage or a
 * newer member's entry is an error and never a different change. Numbers are big-endian, a string is its length and
 * its UTF-8, null data has length -1.
 */
public final class ChangeCodec {
    private static final byte VERSION = 1;

    private static final byte OPEN_SESSION = 1;
    private static final byte RESUME_SESSION = 2;
    private static final byte CLOSE_SESSION = 3;
    private static final byte REQUEST = 4;
    private static final byte DELETE_CONTAINER = 5;
    private static final byte NEW_TERM = 6;
    private static final byte RAISE_FEATURE_LEVEL = 7;
    private static final byte SUSPECT_SESSION = 8;
    private static final byte KEEP_SESSION = 9;
    private static final byte EXPIRE_SESSION = 10;
    private static final byte CONFIGURE = 11;
    private static final byte SUSPECT_SESSION_IN_TERM = 12;
    private static final byte COMPARE_STATE = 13;
    private static final byte DELETE_UNUSED_CONTAINER = 14;
    private static final byte REQUEST_WITHIN_QUOTAS = 15;

    private static final byte CREATE = 1;
    private static final byte DELETE = 2;
    private static final byte SET_DATA = 3;
    private static final byte SET_ACL = 4;
    private static final byte CHECK = 5;
    private static final byte MULTI = 6;

    private ChangeCodec() {}

    /**
     * The bytes of a change, in a new array.
     *
     * @throws IllegalArgumentException if a string holds half a surrogate pair, which no decoded UTF-8 does
     */
    public static byte[] encode(Change change) {
        FieldWriter out = new FieldWriter(256);
        out.writeByte(VERSION);
        if (change instanceof Change.Request request) {
            out.writeByte(request.enforcesQuotas() ? REQUEST_WITHIN_QUOTAS : REQUEST);
            out.writeLong(request.sessionId());
            out.writeLong(request.attachment());
            out.writeAuthIds(request.authIds());
            writeOperation(out, request.operation());
        } else if (change instanceof Change.OpenSession open) {
            writeSession(out, OPEN_SESSION, open.id(), open.password(), open.timeoutMs());
        } else if (change instanceof Change.ResumeSession resume) {
            writeSession(out, RESUME_SESSION, resume.id(), resume.password(), resume.timeoutMs());
        } else if (change instanceof Change.CloseSession close) {
            out.writeByte(CLOSE_SESSION);
            out.writeLong(close.id());
            out.writeLong(close.attachment());
            out.writeByte(close.reason().code());
        } else if (change instanceof Change.DeleteContainer delete) {
            writeDeletion(out, delete);
        } else if (change instanceof Change.NewTerm term) {
            out.writeByte(NEW_TERM);
            out.writeLong(term.term());
        } else if (change instanceof Change.RaiseFeatureLevel raise) {
            out.writeByte(RAISE_FEATURE_LEVEL);
            out.writeInt(raise.level());
        } else {
            writeOther(out, change);
        }
        return out.toBytes();
    }

    private static void writeOther(FieldWriter out, Change change) {
        if (change instanceof Change.SuspectSession suspect) {
            writeSuspicion(out, suspect);
        } else if (change instanceof Change.KeepSession keep) {
            out.writeByte(KEEP_SESSION);
            out.writeLong(keep.id());
            out.writeLong(keep.attachment());
        } else if (change instanceof Change.ExpireSession expire) {
            out.writeByte(EXPIRE_SESSION);
            out.writeLong(expire.id());
            out.writeLong(expire.suspicion());
            out.writeLong(expire.term());
        } else if (change instanceof Change.CompareState compare) {
            out.writeByte(COMPARE_STATE);
            out.writeInt(compare.member());
            out.writeLong(compare.zxid());
            out.writeLong(compare.digest());
        } else if (change instanceof Change.Configure configure) {
            out.writeByte(CONFIGURE);
            out.writeString(configure.members());
        } else {
            throw new AssertionError("no format for " + change);
        }
    }

    private static void writeDeletion(FieldWriter out, Change.DeleteContainer delete) {
        out.writeByte(delete.maxNeverUsedMs() == 0 ? DELETE_CONTAINER : DELETE_UNUSED_CONTAINER);
        out.writeString(delete.path());
        if (delete.maxNeverUsedMs() != 0) {
            out.writeLong(delete.maxNeverUsedMs());
        }
    }

    private static void writeSuspicion(FieldWriter out, Change.SuspectSession suspect) {
        out.writeByte(suspect.term() == 0 ? SUSPECT_SESSION : SUSPECT_SESSION_IN_TERM);
        out.writeLong(suspect.id());
        out.writeLong(suspect.attachment());
        if (suspect.term() != 0) {
            out.writeLong(suspect.term());
        }
    }

    private static void writeSession(FieldWriter out, byte tag, long id, SessionPassword password, int timeoutMs) {
        out.writeByte(tag);
        out.writeLong(id);
        out.writeRaw(password.toBytes());
        out.writeInt(timeoutMs);
    }

    private static void writeOperation(FieldWriter out, TreeOperation operation) {
        if (operation instanceof TreeOperation.Create create) {
            out.writeByte(CREATE);
            out.writeString(create.path());
            out.writeBytes(create.data());
            out.writeAcl(create.acl());
            out.writeByte(create.mode().flag());
            if (create.mode().hasTtl()) {
                out.writeLong(create.ttlMs());
            }
        } else if (operation instanceof TreeOperation.Delete delete) {
            writePathAndVersion(out, DELETE, delete.path(), delete.version());
        } else if (operation instanceof TreeOperation.SetData set) {
            writePathAndVersion(out, SET_DATA, set.path(), set.version());
            out.writeBytes(set.data());
        } else if (operation instanceof TreeOperation.SetAcl set) {
            writePathAndVersion(out, SET_ACL, set.path(), set.version());
            out.writeAcl(set.acl());
        } else if (operation instanceof TreeOperation.Check check) {
            writePathAndVersion(out, CHECK, check.path(), check.version());
        } else if (operation instanceof TreeOperation.Multi multi) {
            out.writeByte(MULTI);
            out.writeInt(multi.parts().size());
            for (TreeOperation part : multi.parts()) {
                writeOperation(out, part);
            }
        } else {
            throw new AssertionError("no format for " + operation);
        }
    }

    private static void writePathAndVersion(FieldWriter out, byte tag, String path, int version) {
        out.writeByte(tag);
        out.writeString(path);
        out.writeInt(version);
    }

    /**
     * The change that the remaining bytes stand for; all of them are taken.
     *
     * @throws TreeFormatException if they stand for none: too few, too many, unknown version, bad values
     */
    public static Change decode(ByteBuffer bytes) {
        FieldReader in = new FieldReader(bytes);
        byte version = in.readByte("version");
        if (version != VERSION) {
            throw new TreeFormatException("a change of format version " + version + ", this server reads " + VERSION);
        }
        try {
            Change change = readChange(in);
            in.expectEnd();
            return change;
        } catch (IllegalArgumentException badValue) {
            throw new TreeFormatException("a change with a bad value: " + badValue.getMessage(), badValue);
        }
    }

    private static Change readChange(FieldReader in) {
        byte tag = in.readByte("kind of change");
        return switch (tag) {
            case OPEN_SESSION ->
                new Change.OpenSession(in.readLong("session id"), readPassword(in), in.readInt("timeoutMs"));
            case RESUME_SESSION ->
                new Change.ResumeSession(in.readLong("session id"), readPassword(in), in.readInt("timeoutMs"));
            case CLOSE_SESSION ->
                new Change.CloseSession(in.readLong("session id"), in.readLong("attachment"), readReason(in));
            case REQUEST -> readRequest(in, false);
            case REQUEST_WITHIN_QUOTAS -> readRequest(in, true);
            case DELETE_CONTAINER -> new Change.DeleteContainer(in.readString("path"));
            case DELETE_UNUSED_CONTAINER -> readDeletion(in);
            case NEW_TERM -> new Change.NewTerm(in.readLong("term"));
            case RAISE_FEATURE_LEVEL -> new Change.RaiseFeatureLevel(in.readInt("feature level"));
            case SUSPECT_SESSION -> new Change.SuspectSession(in.readLong("session id"), in.readLong("attachment"), 0);
            case SUSPECT_SESSION_IN_TERM -> readSuspicion(in);
            case COMPARE_STATE ->
                new Change.CompareState(in.readInt("member"), in.readLong("zxid"), in.readLong("digest"));
            case KEEP_SESSION -> new Change.KeepSession(in.readLong("session id"), in.readLong("attachment"));
            case EXPIRE_SESSION ->
                new Change.ExpireSession(in.readLong("session id"), in.readLong("suspicion"), in.readLong("term"));
            case CONFIGURE -> new Change.Configure(in.readString("members"));
            default -> throw new TreeFormatException("unknown kind of change: " + tag);
        };
    }

    private static Change readRequest(FieldReader in, boolean enforcesQuotas) {
        return new Change.Request(
                in.readLong("session id"),
                in.readLong("attachment"),
                in.readAuthIds(),
                readOperation(in),
                enforcesQuotas);
    }

    private static Change readDeletion(FieldReader in) {
        Change.DeleteContainer delete =
                new Change.DeleteContainer(in.readString("path"), in.readLong("maxNeverUsedMs"));
        if (delete.maxNeverUsedMs() == 0) {
            throw new TreeFormatException("an unused container is deleted after no time");
        }
        return delete;
    }

    private static Change readSuspicion(FieldReader in) {
        Change.SuspectSession suspect =
                new Change.SuspectSession(in.readLong("session id"), in.readLong("attachment"), in.readLong("term"));
        if (suspect.term() == 0) {
            throw new TreeFormatException("a session is suspected in a term that is none");
        }
        return suspect;
    }

    private static SessionPassword readPassword(FieldReader in) {
        return SessionPassword.of(in.readRaw(SessionPassword.BYTES, "password"));
    }

    private static Change.CloseReason readReason(FieldReader in) {
        byte code = in.readByte("reason");
        return Change.CloseReason.ofCode(code)
                .orElseThrow(() -> new TreeFormatException("unknown reason to close a session: " + code));
    }

    private static TreeOperation readOperation(FieldReader in) {
        byte tag = in.readByte("kind of operation");
        return tag == MULTI ? readMulti(in) : readSingle(tag, in);
    }

    private static TreeOperation readMulti(FieldReader in) {
        int count = in.readCount(1, "parts of a multi");
        List<TreeOperation> parts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            parts.add(readSingle(in.readByte("kind of operation"), in));
        }
        return new TreeOperation.Multi(parts);
    }

    private static TreeOperation readSingle(byte tag, FieldReader in) {
        return switch (tag) {
            case CREATE -> readCreate(in);
            case DELETE -> new TreeOperation.Delete(in.readString("path"), in.readInt("version"));
            case SET_DATA -> readSetData(in);
            case SET_ACL -> readSetAcl(in);
            case CHECK -> new TreeOperation.Check(in.readString("path"), in.readInt("version"));
            default -> throw new TreeFormatException("unknown kind of operation: " + tag);
        };
    }

    private static TreeOperation readCreate(FieldReader in) {
        String path = in.readString("path");
        byte[] data = in.readNullableBytes("data");
        ZnodeAcl acl = in.readAcl();
        ZnodeKind mode = readMode(in);
        return new TreeOperation.Create(path, data, acl, mode, mode.hasTtl() ? in.readLong("time to live") : 0);
    }

    private static TreeOperation readSetData(FieldReader in) {
        String path = in.readString("path");
        int version = in.readInt("version");
        return new TreeOperation.SetData(path, in.readNullableBytes("data"), version);
    }

    private static TreeOperation readSetAcl(FieldReader in) {
        String path = in.readString("path");
        int version = in.readInt("version");
        return new TreeOperation.SetAcl(path, in.readAcl(), version);
    }

    private static ZnodeKind readMode(FieldReader in) {
        byte flag = in.readByte("create mode");
        return ZnodeKind.ofFlag(flag).orElseThrow(() -> new TreeFormatException("unknown create mode: " + flag));
    }
}
