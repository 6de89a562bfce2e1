package io.conclave.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Decodes a multi or a multiRead. */
final class MultiDecoder extends RequestDecoder {
    private final OpCode opCode;
    private final JuteReader in;
    private final List<RequestBody> operations = new ArrayList<>();
    private boolean done;

    MultiDecoder(OpCode opCode, JuteReader in) {
        this.opCode = opCode;
        this.in = in;
    }

    @Override
    public boolean advance(int parts) {
        for (int left = parts; left > 0 && !done; left--) {
            MultiHeader header = MultiHeader.decode(in);
            if (header.done()) {
                done = true;
            } else {
                operations.add(operation(header.opCode()));
            }
        }
        return done;
    }

    private RequestBody operation(OpCode part) {
        if (!MultiHeader.mayContain(opCode, part)) {
            throw new MalformedFrameException("multi type", part + " cannot be part of " + opCode);
        }
        return RequestBody.decode(part, in);
    }

    @Override
    public RequestBody.Multi request() {
        return new RequestBody.Multi(opCode, Collections.unmodifiableList(operations));
    }
}
