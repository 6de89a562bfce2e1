package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The formatter sets Java code and leaves comments and strings alone; nothing sets Markdown. */
class LineWidthTest {
    private static final int COLUMNS = 120;

    @Test
    void noLineOfSourcesAndDocumentsIsWiderThan120ColumnsButRowsOfTables() throws IOException {
        List<String> wide = new ArrayList<>();
        Path project = Path.of("..").toRealPath();
        for (Path file : SourceTree.files(project, file -> file.toString().matches(".*\\.(java|kt|md)"))) {
            wide.addAll(wideLines(project, file));
        }
        assertEquals(List.of(), wide);
    }

    private static List<String> wideLines(Path project, Path file) throws IOException {
        List<String> wide = new ArrayList<>();
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            boolean isRow = file.toString().endsWith(".md") && line.strip().startsWith("|");
            if (!isRow && line.codePointCount(0, line.length()) > COLUMNS) {
                wide.add(project.relativize(file) + ":" + (i + 1));
            }
        }
        return wide;
    }
}
