package io.conclave.commit;

import java.util.Objects;

/**
 * A transaction as one of its sites sees it.
 *
 * @param id the transaction's id
 * @param site the site's name
 * @param payload what the transaction is about, from who began it; not copied
 */
public record TransactionPart(String id, String site, byte[] payload) {
    /** Rejects nulls. */
    public TransactionPart {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(site, "site");
        Objects.requireNonNull(payload, "payload");
    }

    @Override
    public String toString() {
        return "TransactionPart[" + id + " at " + site + "]";
    }
}
