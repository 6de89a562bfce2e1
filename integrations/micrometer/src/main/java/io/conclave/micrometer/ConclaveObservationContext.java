package io.conclave.micrometer;

import io.conclave.error.Holder;
import io.conclave.metrics.Outcome;
import io.micrometer.observation.Observation;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What is known of an observed wait or hold. An observation begins on one thread and ends on another, so all of it may
 * be read from any thread.
 */
public final class ConclaveObservationContext extends Observation.Context {
    private final boolean hold;
    private final String recipe;
    private final String path;
    private final String pathName;
    private final Map<String, String> details = new ConcurrentHashMap<>();
    private volatile @Nullable String obstacle;
    private volatile @Nullable Holder holder;
    private volatile @Nullable Outcome outcome;

    ConclaveObservationContext(boolean hold, String recipe, String path, String pathName) {
        this.hold = hold;
        this.recipe = recipe;
        this.path = path;
        this.pathName = pathName;
    }

    /** Whether it is a hold; else it is a wait. */
    public boolean isHold() {
        return hold;
    }

    /** What is waited for or held: {@code lock}, {@code election}, {@code semaphore.admission}. */
    public String recipe() {
        return recipe;
    }

    /** The recipe's path, in the coordinator's namespace. */
    public String path() {
        return path;
    }

    /** What {@link PathNames} calls the path. */
    public String pathName() {
        return pathName;
    }

    /** What it waits for, or waited for last, in words; empty if that is not known. */
    public Optional<String> obstacle() {
        return Optional.ofNullable(obstacle);
    }

    /** Whom it waits for, or waited for last; empty if that is not known. */
    public Optional<Holder> holder() {
        return Optional.ofNullable(holder);
    }

    /** How it has ended; empty before. */
    public Optional<Outcome> outcome() {
        return Optional.ofNullable(outcome);
    }

    /** A detail, by the keys of {@link io.conclave.metrics.Ongoing}: the token of a hold, say. */
    public Optional<String> detail(String key) {
        return Optional.ofNullable(details.get(key));
    }

    void waitsFor(String newObstacle, Optional<Holder> newHolder) {
        obstacle = newObstacle;
        holder = newHolder.orElse(null);
    }

    void addDetail(String key, String value) {
        details.put(key, value);
    }

    void end(Outcome how) {
        outcome = how;
    }
}
