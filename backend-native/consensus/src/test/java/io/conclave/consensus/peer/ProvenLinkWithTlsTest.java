package io.conclave.consensus.peer;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** The same over TLS: a caller that has a certificate has no secret yet. */
@Timeout(300)
@Tag("proof")
@Isolated("counts the lines that the whole package logs")
class ProvenLinkWithTlsTest extends ProvenLinkTest {
    @Override
    LinkForm form() {
        return LinkForm.WITH_TLS;
    }
}
