package io.conclave.protocol;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Buffers for channels within the JVM, at both ends. */
public final class LocalBuffers {
    /** Nothing goes to a socket. Netty's default loads Java's flight recorder at its first buffer. */
    public static final ByteBufAllocator HEAP = new UnpooledByteBufAllocator(false);

    private LocalBuffers() {}
}
