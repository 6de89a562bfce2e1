package io.conclave.coordinator;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.session.Authentication;
import org.junit.jupiter.api.Test;

/** What a coordinator takes to prove who it is. */
class SaslAuthenticationTest {
    @Test
    void aSecondAuthenticationOfSaslIsRefusedAndNoSecretIsSaid() {
        CoordinatorBuilder builder = Coordinator.builder("zookeeper://host:2181")
                .authentication(Authentication.digest("bob", "pw-7351"))
                .authentication(Authentication.saslDigestMd5("bob", "pw-7351"));
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> builder.authentication(Authentication.saslSection("Client-7351")))
                .getMessage();
        assertTrue(message.contains("SASL"), message);
        assertFalse(message.contains("7351"), message);
    }
}
