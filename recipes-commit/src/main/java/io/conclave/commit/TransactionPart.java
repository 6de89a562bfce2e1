package io.conclave.commit;

import io.conclave.node.Bytes;
import java.util.Objects;

/**
 * A transaction as one of its sites sees it.
 *
 * @param id the transaction's id
 * @param site the site's name
 * @param bytes what the transaction is about, from the process that began it
 */
public record TransactionPart(String id, String site, Bytes bytes) {
    /** Rejects nulls. */
    public TransactionPart {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(site, "site");
        Objects.requireNonNull(bytes, "bytes");
    }

    /** With a copy of this payload. */
    public TransactionPart(String id, String site, byte[] payload) {
        this(id, site, Bytes.copyOf(payload));
    }

    /** What the transaction is about: a copy with each call. */
    public byte[] payload() {
        return bytes.toArray();
    }

    @Override
    public String toString() {
        return "TransactionPart[" + id + " at " + site + "]";
    }
}
