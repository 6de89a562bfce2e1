package io.conclave.line;

/** What a {@link LineRule} says: it is a contender's turn now, or after somebody. */
public sealed interface Turn {
    /** Nobody needs to be waited for: the grant may be given. */
    record Now() implements Turn {}

    /**
     * Somebody before us has to go first; when he has gone the rule is asked again.
     *
     * @param entry whom to watch
     */
    record After(LineEntry entry) implements Turn {}

    /** It is our turn. */
    static Turn now() {
        return new Now();
    }

    /** It is not our turn while this place is there. */
    static Turn after(LineEntry entry) {
        return new After(entry);
    }
}
