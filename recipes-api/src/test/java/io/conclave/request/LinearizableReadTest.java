package io.conclave.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.conclave.node.NodePath;
import org.junit.jupiter.api.Test;

class LinearizableReadTest {
    private static final NodePath A = NodePath.of("/a");

    @Test
    void whatIsNoReadOrLinearizableAlreadyIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new LinearizableRead<>(Delete.of(A), A));
        IllegalArgumentException twice = assertThrows(
                IllegalArgumentException.class,
                () -> new LinearizableRead<>(new LinearizableRead<>(GetData.of(A), A), A));
        assertEquals("get /a linearizably cannot be made linearizable again", twice.getMessage());
    }
}
