package io.conclave.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class AuthenticationTest {

    @Test
    void aPasswordMayHaveColons() {
        byte[] credentials = Authentication.digest("bob", "pass:word").credentials();
        assertArrayEquals("bob:pass:word".getBytes(StandardCharsets.UTF_8), credentials);
    }

    @Test
    @SuppressWarnings("NullAway") // what a setting that is missing gives
    void aMissingPasswordIsNotThePasswordNull() {
        assertThrows(NullPointerException.class, () -> Authentication.digest("bob", null));
        assertThrows(NullPointerException.class, () -> Authentication.digest(null, "secret"));
        assertThrows(NullPointerException.class, () -> Authentication.saslDigestMd5("bob", null));
    }

    @Test
    void aUserWithAColonWouldBeAnotherUser() {
        Exception refused =
                assertThrows(IllegalArgumentException.class, () -> Authentication.digest("bob:x", "secret"));
        assertEquals("Invalid user \"bob:x\": it must not have a colon", refused.getMessage());
    }
}
