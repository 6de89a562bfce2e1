package io.conclave.consensus.entry;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * The bytes of the log's own state, as snapshots carry it:
 *
 * <pre>
 *   version 1 | feature level 4 | index of the configuration 8
 *   proposers 2, each: member 4 | incarnation 8 | nonce 8 | last sequence 8 | start
 *   configuration, see {@link ConfigurationCodec}
 *   start: directory 8 | number 8 | id 8
 * </pre>
 */
public final class LogStateCodec {
    private static final int VERSION = 2;

    private LogStateCodec() {}

    /** The state's bytes; equal ones have equal bytes. */
    public static byte[] encode(LogState state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeByte(VERSION);
            out.writeInt(state.featureLevel());
            out.writeLong(state.configurationIndex());
            out.writeShort(state.proposers().size());
            for (Map.Entry<Integer, LogState.Proposer> entry : state.proposers().entrySet()) {
                LogState.Proposer proposer = entry.getValue();
                out.writeInt(entry.getKey());
                out.writeLong(proposer.incarnation());
                out.writeLong(proposer.nonce());
                out.writeLong(proposer.lastSequence());
                out.writeLong(proposer.start().directory());
                out.writeLong(proposer.start().number());
                out.writeLong(proposer.start().id());
            }
            ConfigurationCodec.write(state.configuration(), out);
        } catch (IOException e) {
            throw new UncheckedIOException("a state of the log that cannot be written: " + state, e);
        }
        return bytes.toByteArray();
    }

    /**
     * The state that has these bytes.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static LogState decode(byte[] bytes) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
            LogState state = read(in);
            if (in.read() >= 0) {
                throw new IllegalArgumentException("bytes follow the state of the log");
            }
            return state;
        } catch (IOException e) {
            throw new IllegalArgumentException("a state of the log of " + bytes.length + " bytes ends too early", e);
        }
    }

    private static LogState read(DataInputStream in) throws IOException {
        int version = in.readUnsignedByte();
        if (version != VERSION) {
            throw new IllegalArgumentException("a state of the log of version " + version + "; known is " + VERSION);
        }
        int featureLevel = in.readInt();
        long configurationIndex = in.readLong();
        Map<Integer, LogState.Proposer> proposers = new TreeMap<>();
        int count = in.readUnsignedShort();
        for (int i = 0; i < count; i++) {
            proposers.put(
                    in.readInt(), new LogState.Proposer(in.readLong(), in.readLong(), in.readLong(), readStart(in)));
        }
        return new LogState(ConfigurationCodec.read(in), configurationIndex, featureLevel, proposers);
    }

    private static Start readStart(DataInputStream in) throws IOException {
        return new Start(in.readLong(), in.readLong(), in.readLong());
    }
}
