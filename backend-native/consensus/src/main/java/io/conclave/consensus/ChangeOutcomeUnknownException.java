package io.conclave.consensus;

/** Whether a change of the members was made is not known here: its leader lost the leadership, or did not answer. */
public final class ChangeOutcomeUnknownException extends LogException {
    private static final long serialVersionUID = 1;

    /** How its messages begin, wherever they come from. */
    public static final String BEGINNING = "outcome unknown: ";

    /** Why, behind {@link #BEGINNING}. */
    public ChangeOutcomeUnknownException(String why) {
        super(BEGINNING + why);
    }
}
