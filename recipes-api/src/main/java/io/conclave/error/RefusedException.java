package io.conclave.error;

import java.util.Objects;
import java.util.OptionalInt;

/** The backend refused the request for a stated reason; it had no effect. */
public final class RefusedException extends ConclaveException {
    private static final long serialVersionUID = 1L;

    private final RefusalReason reason;
    private final int operationIndex;

    /**
     * Creates the refusal of a single request.
     *
     * @param reason why
     * @param message names the request and the rule
     */
    public RefusedException(RefusalReason reason, String message) {
        this(reason, message, -1);
    }

    /**
     * Creates the refusal of a transaction.
     *
     * @param reason why its operation was refused
     * @param message names the operation and the rule
     * @param operationIndex the position of the refused operation in the transaction, from 0; -1 if this is none
     */
    public RefusedException(RefusalReason reason, String message, int operationIndex) {
        super(message);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.operationIndex = operationIndex;
    }

    /** Why the request was refused. */
    public RefusalReason reason() {
        return reason;
    }

    /** The position of the refused operation, if the request was a transaction. */
    public OptionalInt operationIndex() {
        return operationIndex < 0 ? OptionalInt.empty() : OptionalInt.of(operationIndex);
    }

    @Override
    public RefusedException withCallersStack() {
        RefusedException copy = new RefusedException(reason, String.valueOf(getMessage()), operationIndex);
        copy.initCause(this);
        return copy;
    }
}
