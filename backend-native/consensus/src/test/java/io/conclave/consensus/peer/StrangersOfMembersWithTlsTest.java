package io.conclave.consensus.peer;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** The same over TLS. */
@Timeout(300)
@Tag("proof")
@Isolated("counts the lines that the whole package logs")
class StrangersOfMembersWithTlsTest extends StrangersOfMembersTest {
    @Override
    LinkForm form() {
        return LinkForm.WITH_TLS;
    }
}
