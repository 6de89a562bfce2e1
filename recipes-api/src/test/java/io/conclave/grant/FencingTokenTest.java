package io.conclave.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FencingTokenTest {
    @Test
    void generationComesBeforeSequence() {
        FencingToken small = new FencingToken(1, 100);
        FencingToken later = new FencingToken(1, 101);
        FencingToken restored = new FencingToken(2, 1);
        assertTrue(small.compareTo(later) < 0);
        assertTrue(later.compareTo(restored) < 0);
        assertEquals(0, small.compareTo(new FencingToken(1, 100)));
        assertEquals("0000000000000001:0000000000000064", small.toString());
    }

    @Test
    void textsSortAsTheTokensDoAndParseBack() {
        List<Long> numbers =
                List.of(0L, 1L, 9L, 10L, 15L, 16L, 255L, 0x1_0000_0000L, Long.MAX_VALUE - 1, Long.MAX_VALUE);
        List<FencingToken> tokens = numbers.stream()
                .flatMap(generation -> numbers.stream().map(sequence -> new FencingToken(generation, sequence)))
                .toList();
        for (FencingToken one : tokens) {
            assertEquals(FencingToken.TEXT_LENGTH, one.toString().length());
            assertEquals(one, FencingToken.parse(one.toString()));
            for (FencingToken other : tokens) {
                assertEquals(
                        Integer.signum(one.compareTo(other)),
                        Integer.signum(one.toString().compareTo(other.toString())));
            }
        }
    }

    @Test
    void textsOfTurnsSortAsTheTokensDoAndParseBack() {
        List<FencingToken> tokens = Stream.of(0L, 1L, 0x64L, Long.MAX_VALUE)
                .flatMap(sequence ->
                        Stream.of(0L, 1L, 15L, 16L, Long.MAX_VALUE).map(turn -> new FencingToken(1, sequence, turn)))
                .toList();
        for (FencingToken one : tokens) {
            int length = one.turn() == 0 ? FencingToken.TEXT_LENGTH : FencingToken.TEXT_LENGTH_WITH_TURN;
            assertEquals(length, one.toString().length());
            assertEquals(one, FencingToken.parse(one.toString()));
            for (FencingToken other : tokens) {
                assertEquals(
                        Integer.signum(one.compareTo(other)),
                        Integer.signum(one.toString().compareTo(other.toString())));
            }
        }
    }

    @Test
    void zerosInFrontMayBeMissing() {
        assertEquals(new FencingToken(1, 0x64), FencingToken.parse("1:64"));
        assertEquals(new FencingToken(1, 0x64, 10), FencingToken.parse("1:64:a"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":",
                "1",
                "1:",
                ":1",
                "1:2:3:4",
                "1:2:",
                "1:2:-3",
                "1:2:8000000000000000",
                " 1:2",
                "1:2 ",
                "1:2\n",
                "A:1",
                "+1:2",
                "1:-2",
                "1-2",
                "8000000000000000:0",
                "0:ffffffffffffffff",
                "00000000000000001:1"
            })
    void whatIsNoTokenIsRefused(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> FencingToken.parse(text))
                .getMessage();
        assertTrue(message.contains("\"" + text + "\""), message);
    }

    @Test
    void numbersAreNotNegative() {
        assertThrows(IllegalArgumentException.class, () -> new FencingToken(-1, 1));
        assertThrows(IllegalArgumentException.class, () -> new FencingToken(1, -1));
        assertThrows(IllegalArgumentException.class, () -> new FencingToken(1, 1, -1));
    }

    @Test
    void canBeSerialized() throws Exception {
        FencingToken token = new FencingToken(3, 4);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(token);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertEquals(token, in.readObject());
        }
    }
}
