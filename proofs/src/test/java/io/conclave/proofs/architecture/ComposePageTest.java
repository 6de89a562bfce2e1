package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.conclave.server.ConfigFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** The Compose files of the pages, without an engine: what they name of the image is in its scripts and Dockerfile. */
class ComposePageTest {
    private static final Path TOP = Path.of("..");
    private static final Path IMAGE = TOP.resolve("backend-native/distribution/docker");
    private static final List<String> SCRIPTS = List.of("conclave-container", "conclave-settings", "conclave-health");
    private static final String OPERATIONS = "docs/operations.md";
    private static final Pattern BLOCK = Pattern.compile("(?s)```(?:yaml)?\n(services:.*?)```");
    private static final Pattern VARIABLE =
            Pattern.compile("\\b(?:ZOO|CONCLAVE|ZK)_[A-Z0-9_]+(?:\\.\\.\\.)?|\\b(?:SERVER_)?JVMFLAGS\\b");

    private static Map<?, ?> compose(String page) throws IOException {
        MatchResult block = BLOCK.matcher(Files.readString(TOP.resolve(page)))
                .results()
                .findFirst()
                .orElseThrow();
        return new Yaml(new SafeConstructor(new LoaderOptions())).load(block.group(1));
    }

    private static Map<?, ?> map(Map<?, ?> from, String key) {
        return from.containsKey(key) ? (Map<?, ?>) from.get(key) : Map.of();
    }

    private static List<String> list(Map<?, ?> from, String key) {
        return from.containsKey(key)
                ? ((List<?>) from.get(key)).stream().map(String::valueOf).toList()
                : List.of();
    }

    private static Set<String> words(String text) {
        return Set.copyOf(Arrays.asList(text.split("[^A-Za-z0-9_/]+")));
    }

    @ParameterizedTest
    @ValueSource(strings = {OPERATIONS, "docs/integrations/spring-boot.md"})
    void composeFileNamesWhatTheImageHas(String page) throws IOException {
        String dockerfile = Files.readString(IMAGE.resolve("Dockerfile"));
        Set<String> ports = words(line("EXPOSE", dockerfile));
        Set<String> volumes = words(line("VOLUME", dockerfile));
        Map<?, ?> compose = compose(page);
        for (Object one : map(compose, "services").values()) {
            Map<?, ?> service = (Map<?, ?>) one;
            String image = (String) service.get("image");
            assertTrue(image.endsWith("conclave:" + line("ARG VERSION=", dockerfile)), image);
            for (String port : list(service, "ports")) {
                assertTrue(ports.contains(port.replaceAll(".*:", "")), () -> "not exposed: " + port);
            }
            for (String volume : list(service, "volumes")) {
                String[] nameAndFolder = volume.split(":");
                assertTrue(map(compose, "volumes").containsKey(nameAndFolder[0]), () -> "not declared: " + volume);
                assertTrue(volumes.contains(nameAndFolder[1]), () -> "no volume of the image: " + volume);
            }
            for (String secret : list(service, "secrets")) {
                assertTrue(map(compose, "secrets").containsKey(secret), () -> "not declared: " + secret);
            }
            for (Object variable : map(service, "environment").keySet()) {
                assertTrue(read().contains(variable), () -> "not read: " + variable);
            }
        }
    }

    private static String line(String begin, String dockerfile) {
        return dockerfile
                .lines()
                .filter(line -> line.startsWith(begin))
                .findFirst()
                .orElseThrow()
                .substring(begin.length());
    }

    /** The variables that the scripts of the image read. */
    private static Set<String> read() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String script : SCRIPTS) {
            names.addAll(variables(Files.readString(IMAGE.resolve(script))));
        }
        return names;
    }

    private static Set<String> variables(String text) {
        Set<String> names = new TreeSet<>();
        VARIABLE.matcher(text).results().map(MatchResult::group).forEach(names::add);
        return names;
    }

    @Test
    void variablesOfThePageAreThoseThatTheImageReads() throws IOException {
        String page = Files.readString(TOP.resolve(OPERATIONS));
        Set<String> onPage = variables(page.substring(page.indexOf("\n## Containers"), page.indexOf("\nFor tests: ")));
        Set<String> read = read();
        read.add("SERVER_JVMFLAGS"); // by conclave-server
        Set<String> untold = new TreeSet<>(read);
        untold.removeIf(name -> onPage.contains(name) || onPage.stream().anyMatch(one -> begins(name, one)));
        assertEquals(Set.of(), untold);
        Set<String> unread = new TreeSet<>(onPage);
        unread.removeIf(one -> read.contains(one) || read.stream().anyMatch(name -> begins(name, one)));
        assertEquals(Set.of(), unread);
    }

    /** Whether a word of the page such as {@code ZOO_AUTOPURGE_...} means the name, among others. */
    private static boolean begins(String name, String word) {
        return word.endsWith("...") && name.startsWith(word.replace("...", ""));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "the scripts are for images of Linux")
    @Timeout(300)
    void oneServerOfTheComposeFileMakesTheClusterAndTheOthersWaitForIt(@TempDir Path directory) throws Exception {
        Map<?, ?> compose = compose(OPERATIONS);
        Map<?, ?> services = map(compose, "services");
        assertEquals(3, services.size());
        List<String> made = new ArrayList<>();
        for (Object name : services.keySet()) {
            Map<?, ?> service = map(services, (String) name);
            assertEquals(name, service.get("hostname"), "the others reach it by this name");
            Path folder = Files.createDirectory(directory.resolve((String) name));
            String calls = start(folder, map(service, "environment"));
            assertTrue(calls.contains("start-foreground "), calls);
            if (calls.contains("init ")) {
                made.add((String) name);
            }
            Path configuration = folder.resolve("zoo.cfg");
            List<String> lines = Files.readAllLines(configuration);
            for (Object other : services.keySet()) {
                assertTrue(
                        lines.stream().anyMatch(line -> line.matches("server\\.\\d=" + other + ":.*")),
                        lines::toString);
            }
            assertDoesNotThrow(() -> ConfigFile.read(configuration), lines::toString);
            String secret = Files.readString(folder.resolve("data/peer.secret"));
            assertEquals(
                    "secret of " + map(compose, "secrets").keySet().iterator().next(), secret);
        }
        assertEquals(List.of("zoo1"), made);
    }

    /** What the container of a service calls, with these variables, and folders and secrets of this test. */
    private static String start(Path folder, Map<?, ?> environment) throws Exception {
        Path calls = folder.resolve("calls");
        Path bin = Files.createDirectory(folder.resolve("bin"));
        Path server = Files.writeString(bin.resolve("conclave-server"), "#!/bin/bash\necho \"$*\" >> " + calls + "\n");
        Files.setPosixFilePermissions(server, PosixFilePermissions.fromString("rwxr-xr-x"));
        ProcessBuilder container = new ProcessBuilder(
                IMAGE.resolve("conclave-container").toAbsolutePath().toString());
        Map<String, String> variables = container.environment();
        environment.forEach((name, value) -> variables.put((String) name, String.valueOf(value)));
        Path secret = Path.of(variables.get("CONCLAVE_PEER_SECRET_FILE"));
        assertEquals(Path.of("/run/secrets"), secret.getParent(), "where Compose puts it");
        Path mounted = folder.resolve("mounted");
        Files.writeString(mounted, "secret of " + secret.getFileName());
        variables.put("CONCLAVE_PEER_SECRET_FILE", mounted.toString());
        variables.put("PATH", bin + ":" + variables.get("PATH"));
        variables.put("ZOO_CONF_DIR", folder.toString());
        variables.put(
                "ZOO_DATA_DIR", Files.createDirectory(folder.resolve("data")).toString());
        variables.put("ZOO_DATA_LOG_DIR", folder.resolve("log").toString());
        variables.put("ZOO_LOG_DIR", folder.toString());
        Process process = container.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return Files.readString(calls);
    }
}
