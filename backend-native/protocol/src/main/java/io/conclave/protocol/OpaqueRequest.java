package io.conclave.protocol;

/**
 * The body of an operation that is internal to servers, which refuse it from clients.
 *
 * @param opCode the operation
 * @param bytes what follows the header
 */
public record OpaqueRequest(OpCode opCode, byte[] bytes) implements RequestBody {

    @Override
    public void encode(JuteWriter out) {
        out.writeRaw(bytes);
    }
}
