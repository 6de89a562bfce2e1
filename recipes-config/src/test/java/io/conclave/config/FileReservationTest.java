package io.conclave.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileReservationTest {
    @TempDir
    private Path folder;

    @Test
    void aBoundIsRaisedAndNeverLowered() throws Exception {
        Reservation reservation = FileReservation.at(folder.resolve("orders"));
        assertEquals(0, reservation.upperBound());
        reservation.raise(200);
        reservation.raise(100);
        assertEquals(200, FileReservation.at(folder.resolve("orders")).upperBound());
    }

    /** A directory that cannot be opened stands for every directory on Windows, where none can. */
    @Test
    void aDirectoryIsNotOpenedOnWindows() throws Exception {
        Path unopenable = folder.resolve("missing");
        FileReservation.syncDirectory(unopenable, "Windows 11");
        assertThrows(IOException.class, () -> FileReservation.syncDirectory(unopenable, "Linux"));
    }
}
