package io.conclave.spring.boot;

import java.util.Set;
import org.springframework.context.ApplicationEvent;

/**
 * Properties that {@code spring.config.import=conclave:} has brought are different now, and the environment has the new
 * values. Published on a listener thread of the connection, which the listeners may block; the next change follows when
 * they have returned.
 */
public final class ConfigChangedEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1L;

    private final Set<String> keys;

    ConfigChangedEvent(Object source, Set<String> keys) {
        super(source);
        this.keys = Set.copyOf(keys);
    }

    /**
     * The keys that have another value in their tree, came or went. Another property source may still be asked first.
     */
    public Set<String> getKeys() {
        return keys;
    }
}
