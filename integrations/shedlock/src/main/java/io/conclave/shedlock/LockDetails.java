package io.conclave.shedlock;

import io.conclave.node.Bytes;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import net.javacrumbs.shedlock.support.Utils;

/**
 * What a provider of ours notes beside a lock's record, as lines {@code key=value}.
 *
 * @param owner the guid of the call that took the lock; {@link #NOBODY} once it is unlocked
 * @param version the version of the record that this belongs to: if the record has another one, another library has
 *     written it since
 * @param atLeastUntil until when the lock stays taken although its holder is gone
 * @param endsWithHolder whether the lock is free before its time when its holder is gone
 * @param by the process that wrote this, for people
 */
record LockDetails(String owner, int version, Instant atLeastUntil, boolean endsWithHolder, String by) {
    /** The owner of a lock that is unlocked. */
    static final String NOBODY = "";

    /** The text that is written. */
    Bytes encoded() {
        return Bytes.ofText("owner=" + owner + "\nversion=" + version + "\natLeastUntil="
                + Utils.toIsoString(atLeastUntil) + "\nendsWithHolder=" + endsWithHolder + "\nby=" + by + "\n");
    }

    /** What was written; empty if it is none of ours. */
    static Optional<LockDetails> decode(Bytes bytes) {
        Map<String, String> values = new HashMap<>();
        bytes.text().lines().forEach(line -> {
            int equals = line.indexOf('=');
            values.put(line.substring(0, Math.max(0, equals)), line.substring(equals + 1));
        });
        try {
            return Optional.of(new LockDetails(
                    values.getOrDefault("owner", NOBODY),
                    Integer.parseInt(values.getOrDefault("version", "")),
                    Instant.parse(values.getOrDefault("atLeastUntil", "")),
                    Boolean.parseBoolean(values.getOrDefault("endsWithHolder", "")),
                    values.getOrDefault("by", "")));
        } catch (NumberFormatException | DateTimeParseException notOurs) {
            return Optional.empty();
        }
    }
}
