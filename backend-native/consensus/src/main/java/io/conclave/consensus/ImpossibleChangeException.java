package io.conclave.consensus;

/** A change of the members was refused, and would be again: the cluster that it leads to cannot be. */
public final class ImpossibleChangeException extends LogException {
    private static final long serialVersionUID = 1;

    /** How its messages begin, wherever they come from. */
    public static final String BEGINNING = "impossible change: ";

    /** Why, behind {@link #BEGINNING}. */
    public ImpossibleChangeException(String why) {
        super(BEGINNING + why);
    }
}
