package io.conclave.consensus.entry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DiskClaimTest {
    private static final Start START = new Start(-7, 3, Long.MIN_VALUE);

    @Test
    void aClaimIsReadAsItWasWritten() {
        DiskClaim claim = new DiskClaim(START, 318, "member 2 knows of start 4");
        assertEquals(Optional.of(claim), DiskClaim.of(claim.line() + "\n"));
    }

    @Test
    void itsTextIsOneLine() {
        assertEquals(
                Optional.of(new DiskClaim(START, 0, "two lines")),
                DiskClaim.of(new DiskClaim(START, 0, "two\nlines").line()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "claim1", "claim2 1 2 3 4 text", "claim1 1 2 x 4 text", "claim1 1 2 3 4"})
    void anythingElseIsNone(String line) {
        assertTrue(DiskClaim.of(line).isEmpty());
    }
}
