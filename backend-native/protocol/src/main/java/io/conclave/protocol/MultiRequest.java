package io.conclave.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Several operations in one request.
 *
 * @param opCode {@link OpCode#MULTI}: creates, deletes, setData and checks, all or none; or {@link OpCode#MULTI_READ}:
 *     getData and getChildren, each with its own result
 * @param operations the operations, in order; may be empty
 */
public record MultiRequest(OpCode opCode, List<RequestBody> operations) implements RequestBody {

    /** Checks that the operations may stand in such a multi. */
    public MultiRequest {
        for (RequestBody operation : operations) {
            if (!mayContain(opCode, operation.opCode())) {
                throw new IllegalArgumentException(operation.opCode() + " cannot be part of " + opCode);
            }
        }
    }

    @Override
    public void encode(JuteWriter out) {
        for (RequestBody operation : operations) {
            MultiHeader.request(operation.opCode()).encode(out);
            operation.encode(out);
        }
        MultiHeader.END.encode(out);
    }

    static MultiRequest decode(OpCode opCode, JuteReader in) {
        List<RequestBody> operations = new ArrayList<>();
        for (MultiHeader header = MultiHeader.decode(in); !header.done(); header = MultiHeader.decode(in)) {
            OpCode part = header.opCode();
            if (!mayContain(opCode, part)) {
                throw new MalformedFrameException("multi type", part + " cannot be part of " + opCode);
            }
            operations.add(RequestBody.decode(part, in));
        }
        return new MultiRequest(opCode, Collections.unmodifiableList(operations));
    }

    private static boolean mayContain(OpCode multi, OpCode part) {
        return switch (part) {
            case CREATE, CREATE2, CREATE_CONTAINER, CREATE_TTL, DELETE, SET_DATA, CHECK -> multi == OpCode.MULTI;
            case GET_DATA, GET_CHILDREN -> multi == OpCode.MULTI_READ;
            default -> false;
        };
    }
}
