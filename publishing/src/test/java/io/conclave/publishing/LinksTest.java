package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinksTest {
    @Test
    void everyLinkOfTheDocumentsLeadsSomewhere() throws IOException {
        assertEquals(List.of(), Links.broken(Path.of("..")));
    }

    @Test
    void brokenLinkIsNamedByFileLineAndLink(@TempDir Path project) throws IOException {
        for (String name : List.of("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")) {
            Files.createFile(project.resolve(name));
        }
        Files.writeString(project.resolve("README.md"), """
                # Title
                [gone](docs/gone.md), [fine](docs/page.md#the-one-heading), [own](#title), [web](https://a.invalid/x)
                [no heading](docs/page.md#another) ![no picture](picture.svg)

                ```
                [in code](nowhere.md)
                ```
                `[in code](nowhere.md)` [out](../../away.md)

                [named]: named.md
                """);
        Files.createDirectories(project.resolve("docs"));
        Files.writeString(project.resolve("docs/page.md"), "## The `one` heading\n[up](../README.md#titel)\n");

        assertEquals(
                List.of(
                        "README.md:2: (docs/gone.md) no such file",
                        "README.md:3: (docs/page.md#another) no such heading in docs/page.md",
                        "README.md:3: (picture.svg) no such file",
                        "README.md:8: (../../away.md) leads out of the project",
                        "README.md:10: (named.md) no such file",
                        "docs/page.md:2: (../README.md#titel) no such heading in README.md"),
                Links.broken(project));
    }

    @Test
    void anchorsAreThoseOfGitHub() {
        String text = """
                # What's new, in `0.1.0`?
                ## A [link](target.md) & more
                ### Twice
                ### Twice
                ```
                # a comment
                ```
                ## snake_case – and a dash
                """;

        assertEquals(
                Set.of("whats-new-in-010", "a-link--more", "twice", "twice-1", "snake_case--and-a-dash"),
                Set.copyOf(Markdown.of(text).anchors().values()));
    }
}
