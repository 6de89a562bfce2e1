package io.conclave.consensus;

/** Bytes that were durable once cannot be read any more: not a torn tail, which is cut silently, but lost data. */
public final class DamagedLogException extends LogException {
    private static final long serialVersionUID = 1;

    private final String file;
    private final long offset;

    public DamagedLogException(String file, long offset, String what) {
        super(file + " is damaged at offset " + offset + ": " + what);
        this.file = file;
        this.offset = offset;
    }

    /** Path of the damaged file. */
    public String file() {
        return file;
    }

    /** Byte offset of the first damaged record in it. */
    public long offset() {
        return offset;
    }
}
