package io.conclave.consensus;

/** A change of the members was refused: no majority of those that would vote then answers the leader. */
public final class NoLiveMajorityException extends LogException {
    private static final long serialVersionUID = 1;

    /** How its messages begin, wherever they come from. */
    public static final String BEGINNING = "no live majority: ";

    /** Why, behind {@link #BEGINNING}. */
    public NoLiveMajorityException(String why) {
        super(BEGINNING + why);
    }
}
