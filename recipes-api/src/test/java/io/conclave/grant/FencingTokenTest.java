package io.conclave.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class FencingTokenTest {
    @Test
    void generationComesBeforeZxid() {
        FencingToken small = new FencingToken(1, 100);
        FencingToken later = new FencingToken(1, 101);
        FencingToken restored = new FencingToken(2, 1);
        assertTrue(small.compareTo(later) < 0);
        assertTrue(later.compareTo(restored) < 0);
        assertEquals(0, small.compareTo(new FencingToken(1, 100)));
        assertEquals("1:64", small.toString());
    }
}
