package io.conclave.protocol;

/**
 * The bytes received are not what the protocol allows. The connection they came from cannot be read any further;
 * nothing else is affected.
 */
public final class MalformedFrameException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The field that could not be read, as the protocol calls it. */
    private final String field;

    /**
     * An error at a field.
     *
     * @param field the field that could not be read
     * @param rule what is wrong with it, and what would be right
     */
    public MalformedFrameException(String field, String rule) {
        super(field + ": " + rule);
        this.field = field;
    }

    /** The field that could not be read. */
    public String field() {
        return field;
    }
}
