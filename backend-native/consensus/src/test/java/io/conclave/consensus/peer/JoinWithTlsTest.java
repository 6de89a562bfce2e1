package io.conclave.consensus.peer;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The same over TLS. */
@Timeout(300)
@Tag("proof")
class JoinWithTlsTest extends JoinTest {
    @Override
    LinkForm form() {
        return LinkForm.WITH_TLS;
    }
}
