package io.conclave.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read is what was written, or one of the two is refused. */
class DataCodecTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "Grüße", "\uD83D\uDD12 locked", "\u0000"})
    void textComesBackAsItWas(String text) {
        assertEquals(text, DataCodec.TEXT.decode(DataCodec.TEXT.encode(text)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "a\uDD12b", "\uDD12\uD83D"})
    void halfOfASurrogatePairIsRefusedWithItsRule(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> DataCodec.TEXT.encode(text))
                .getMessage();
        assertTrue(message.contains("half of a surrogate pair"), message);
    }

    @Test
    void bytesThatAreNotUtf8AreRefused() {
        assertThrows(IllegalArgumentException.class, () -> DataCodec.TEXT.decode(new byte[] {(byte) 0xC3}));
    }
}
