package io.conclave.tree;

import java.util.EnumMap;
import java.util.Map;

/**
 * A read or a step of a request was refused. It is an answer and no accident, and a frequent one (asking whether a
 * node exists is how recipes wait), so it carries no stack trace and there is one instance for each error.
 */
public final class TreeException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final Map<TreeError, TreeException> INSTANCES = new EnumMap<>(TreeError.class);

    static {
        for (TreeError error : TreeError.values()) {
            INSTANCES.put(error, new TreeException(error));
        }
    }

    private final TreeError error;

    private TreeException(TreeError error) {
        super(error.name(), null, false, false);
        this.error = error;
    }

    @SuppressWarnings("NullAway") // the table has every error
    static TreeException of(TreeError error) {
        return INSTANCES.get(error);
    }

    /** What was refused. */
    public TreeError error() {
        return error;
    }
}
