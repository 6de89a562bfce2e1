package io.conclave.protocol;

/**
 * Decodes a request of very many parts in as many steps as the caller likes, since an event loop has others to serve.
 * The frame must stay as it is until all is decoded. Not thread-safe; never blocks.
 */
public abstract class RequestDecoder {
    RequestDecoder() {}

    /** Whether requests of this kind can be decoded step by step. */
    public static boolean isFor(OpCode opCode) {
        return switch (opCode) {
            case MULTI, MULTI_READ, SET_WATCHES, SET_WATCHES2 -> true;
            default -> false;
        };
    }

    /**
     * Begins to decode.
     *
     * @param opCode one of those that {@link #isFor} names
     * @param in the rest of the frame, behind the header
     */
    public static RequestDecoder of(OpCode opCode, JuteReader in) {
        return switch (opCode) {
            case MULTI, MULTI_READ -> new MultiDecoder(opCode, in);
            case SET_WATCHES, SET_WATCHES2 -> new SetWatchesDecoder(opCode, in);
            default -> throw new IllegalArgumentException(opCode + " has no parts");
        };
    }

    /**
     * Goes on. Throws what {@link RequestBody#decode} throws, after which nothing more can be decoded.
     *
     * @param parts how many to decode at most
     * @return whether all is decoded
     */
    public abstract boolean advance(int parts);

    /** The request, when all is decoded. */
    public abstract RequestBody request();

    final RequestBody all() {
        advance(Integer.MAX_VALUE);
        return request();
    }
}
