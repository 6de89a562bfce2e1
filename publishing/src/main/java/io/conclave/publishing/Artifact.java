package io.conclave.publishing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The folder of one artifact in a bundle, laid out as a Maven repository: {@code <group>/<artifact>/<version>}.
 *
 * @param folder where it lies
 * @param group the group, from the folders above
 * @param name the artifact's id
 * @param version its version
 * @param files the names of all files in it
 */
record Artifact(Path folder, String group, String name, String version, List<String> files) {
    /** What stands beside a published file; it is not signed itself. */
    private static final List<String> COMPANIONS = List.of(".asc", ".md5", ".sha1", ".sha256", ".sha512");

    static List<Artifact> in(Path bundle) throws IOException {
        TreeSet<Path> folders = new TreeSet<>();
        try (Stream<Path> all = Files.walk(bundle)) {
            all.filter(Files::isRegularFile).forEach(file -> folders.add(file.getParent()));
        }
        return folders.stream().map(folder -> at(bundle, folder)).toList();
    }

    private static Artifact at(Path bundle, Path folder) {
        Path place = bundle.relativize(folder);
        if (place.getNameCount() < 3) {
            throw new IllegalArgumentException(
                    folder + " holds files, but a bundle has them in <group>/<artifact>/<version> only");
        }
        int last = place.getNameCount() - 1;
        String group = place.subpath(0, last - 1).toString().replace('/', '.').replace('\\', '.');
        try (Stream<Path> files = Files.list(folder)) {
            return new Artifact(
                    folder,
                    group,
                    place.getName(last - 1).toString(),
                    place.getName(last).toString(),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(folder.toString(), e);
        }
    }

    /** The files that are published: neither signatures nor checksums. */
    List<String> published() {
        return files.stream()
                .filter(file -> COMPANIONS.stream().noneMatch(file::endsWith))
                .toList();
    }

    /** The name of its file with this end, such as {@code -sources.jar}. */
    String file(String end) {
        return name + "-" + version + end;
    }

    boolean has(String end) {
        return files.contains(file(end));
    }
}
