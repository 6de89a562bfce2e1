package io.conclave.consensus.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.consensus.disk.Disk;
import io.conclave.consensus.disk.DiskFile;
import io.conclave.consensus.disk.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class UntouchedDiskTest {
    private static final List<String> NAMES = List.of("a", "b", "c", "d");
    private static final int MAX_BYTES = 20_000;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);

    @Test
    void itShowsEveryChangeAndTheRealDiskShowsNone() throws IOException {
        for (int round = 0; round < 30; round++) {
            SimulatedDisk real = new SimulatedDisk(1);
            SimulatedDisk model = new SimulatedDisk(1);
            for (String name : NAMES.subList(0, 3)) {
                byte[] bytes = new byte[random.nextInt(MAX_BYTES)];
                random.nextBytes(bytes);
                real.put(name, bytes);
                model.put(name, bytes);
            }
            Map<String, byte[]> before = real.image();
            UntouchedDisk untouched = new UntouchedDisk(real);
            for (int step = 0; step < 200; step++) {
                change(random.nextLong(), model, untouched);
            }
            assertEquals(new TreeSet<>(model.list()), new TreeSet<>(untouched.list()), () -> "seed " + seed);
            for (String name : model.list()) {
                assertArrayEquals(read(model, name), read(untouched, name), () -> name + ", seed " + seed);
            }
            assertEquals(before.keySet(), real.image().keySet());
            before.forEach((name, bytes) -> assertArrayEquals(bytes, real.bytes(name)));
        }
    }

    /** The same on both, by the same numbers. */
    private static void change(long seed, Disk... disks) throws IOException {
        for (Disk disk : disks) {
            Random numbers = new Random(seed);
            String name = NAMES.get(numbers.nextInt(NAMES.size()));
            boolean there = disk.list().contains(name);
            switch (numbers.nextInt(10)) {
                case 0 -> disk.delete(name);
                case 1 -> {
                    if (there) {
                        disk.rename(name, NAMES.get(numbers.nextInt(NAMES.size())));
                    }
                }
                default -> {
                    try (DiskFile file = there ? disk.open(name) : disk.create(name)) {
                        byte[] bytes = new byte[numbers.nextInt(6_000)];
                        numbers.nextBytes(bytes);
                        file.write(ByteBuffer.wrap(bytes), numbers.nextInt(MAX_BYTES));
                        file.sync();
                    }
                }
            }
        }
    }

    /** In parts, with bounds of all kinds. */
    private byte[] read(Disk disk, String name) throws IOException {
        try (DiskFile file = disk.open(name)) {
            ByteBuffer all = ByteBuffer.allocate((int) file.size());
            while (all.hasRemaining()) {
                int length = Math.min(all.remaining(), 1 + random.nextInt(9_000));
                ByteBuffer part = all.slice(all.position(), length);
                assertEquals(length, file.read(part, all.position()));
                all.position(all.position() + length);
            }
            assertEquals(0, file.read(ByteBuffer.allocate(10), file.size()));
            return all.array();
        }
    }

    @Test
    void noBytesBehindTheEndMakeNoFileLonger() throws IOException {
        SimulatedDisk real = new SimulatedDisk(1);
        real.put("a", new byte[1]);
        for (Disk disk : List.of(real, new UntouchedDisk(real))) {
            try (DiskFile file = disk.open("a")) {
                file.write(ByteBuffer.allocate(0), 100);
                file.sync();
                assertEquals(1, file.size());
            }
        }
    }

    @Test
    void whatIsNotThereIsRefusedAsOnARealDisk() throws IOException {
        SimulatedDisk real = new SimulatedDisk(1);
        real.put("a", new byte[1]);
        UntouchedDisk disk = new UntouchedDisk(real);
        assertThrows(NoSuchFileException.class, () -> disk.open("x"));
        assertThrows(NoSuchFileException.class, () -> disk.rename("x", "y"));
        assertThrows(FileAlreadyExistsException.class, () -> disk.create("a"));
        disk.delete("x");
        disk.delete("a");
        assertThrows(NoSuchFileException.class, () -> disk.open("a"));
        assertTrue(real.list().contains("a"));
    }
}
