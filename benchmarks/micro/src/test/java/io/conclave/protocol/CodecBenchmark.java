package io.conclave.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A set of 100 bytes between record and frame. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CodecBenchmark {
    private final ByteBuf buffer = Unpooled.buffer(1024);
    private final RequestHeader header = new RequestHeader(17, OpCode.SET_DATA.code());
    private final RequestBody.SetData body = new RequestBody.SetData("/benchmark/parent/child", new byte[100], -1);
    private ByteBuf frame = Unpooled.EMPTY_BUFFER;

    @Setup
    public void encodeOnce() {
        frame = encode().copy();
    }

    @Benchmark
    public ByteBuf encode() {
        buffer.clear();
        Frames.write(buffer, header, body);
        return buffer;
    }

    @Benchmark
    public RequestBody decode() {
        frame.readerIndex(0);
        JuteReader in = new JuteReader(
                Frames.next(frame, Frames.DEFAULT_MAX_PAYLOAD_BYTES).orElseThrow());
        OpCode opCode = RequestHeader.decode(in).opCode().orElseThrow();
        return RequestBody.decode(opCode, in);
    }
}
