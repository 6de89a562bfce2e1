package io.conclave.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.error.ConclaveException;
import io.conclave.error.OutcomeUnknownException;
import io.conclave.error.RefusalReason;
import io.conclave.error.RefusedException;
import io.conclave.error.SessionGoneException;
import io.conclave.protocol.ErrorCode;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ServerErrorsTest {
    private static final Set<ErrorCode> GONE = EnumSet.of(ErrorCode.SESSION_EXPIRED, ErrorCode.UNKNOWN_SESSION);
    private static final Set<ErrorCode> UNKNOWN = EnumSet.of(
            ErrorCode.SESSION_MOVED, ErrorCode.CONNECTION_LOSS, ErrorCode.OPERATION_TIMEOUT, ErrorCode.REQUEST_TIMEOUT);

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void everyErrorIsOneOfTheFourKindsAndNamesTheRequest(ErrorCode error) {
        ConclaveException failure = ServerErrors.failure("set /a", error.code());
        Class<?> expected = GONE.contains(error)
                ? SessionGoneException.class
                : UNKNOWN.contains(error) ? OutcomeUnknownException.class : RefusedException.class;
        assertInstanceOf(expected, failure);
        assertTrue(failure.getMessage().startsWith("set /a: " + error.name()), failure.getMessage());
    }

    @Test
    void anErrorWithoutANameKeepsItsNumber() {
        ConclaveException failure = ServerErrors.failure("set /a", -999);
        assertEquals(RefusalReason.OTHER, ((RefusedException) failure).reason());
        assertTrue(failure.getMessage().contains("-999"), failure.getMessage());
    }

    @Test
    void unsupportedRequestNamesTheSettingThatEnablesIt() {
        ConclaveException failure =
                ServerErrors.failure("create /a PERSISTENT_WITH_TTL", ErrorCode.UNIMPLEMENTED.code());
        assertEquals(RefusalReason.UNSUPPORTED, ((RefusedException) failure).reason());
        assertTrue(failure.getMessage().contains("extendedTypesEnabled=true"), failure.getMessage());
    }

    @Test
    void limitsAndReadOnlyServersHaveReasonsOfTheirOwn() {
        assertEquals(RefusalReason.LIMIT_EXCEEDED, ServerErrors.reason(ErrorCode.THROTTLED.code()));
        assertEquals(RefusalReason.LIMIT_EXCEEDED, ServerErrors.reason(ErrorCode.QUOTA_EXCEEDED.code()));
        assertEquals(RefusalReason.NOT_WRITABLE, ServerErrors.reason(ErrorCode.NOT_READ_ONLY.code()));
        assertEquals(RefusalReason.UNSUPPORTED, ServerErrors.reason(ErrorCode.UNIMPLEMENTED.code()));
    }
}
