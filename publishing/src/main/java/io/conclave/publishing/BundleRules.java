package io.conclave.publishing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.ZipFile;

/**
 * What Maven Central asks of a bundle, and what we ask besides: that it is closed, and that conclave-bom lists each
 * jar. Central's rules are at https://central.sonatype.org/publish/requirements/.
 */
final class BundleRules {
    private static final List<String> ASKED =
            List.of("url", "licenses/license/name", "licenses/license/url", "developers/developer/name");
    private static final List<String> ASKED_OF_SCM = List.of("scm/connection", "scm/developerConnection", "scm/url");
    private static final String BOM = "conclave-bom";

    private final Map<String, Artifact> artifacts = new TreeMap<>();
    private final Map<String, Pom> poms = new TreeMap<>();
    private final List<String> violations = new ArrayList<>();

    private BundleRules() {}

    /** Each broken rule as a sentence that names the artifact; none if the bundle may be published. */
    static List<String> violations(Path bundle) throws IOException {
        BundleRules rules = new BundleRules();
        rules.read(bundle);
        for (Artifact artifact : rules.artifacts.values()) {
            rules.checkFiles(artifact);
            rules.checkPom(artifact);
        }
        rules.checkBom();
        return rules.violations;
    }

    private void read(Path bundle) throws IOException {
        for (Artifact artifact : Artifact.in(bundle)) {
            String version = artifact.version();
            Artifact other = artifacts.putIfAbsent(artifact.name(), artifact);
            require(other == null, artifact, "stands in the bundle twice, with another version or group");
            require(!version.endsWith("-SNAPSHOT"), artifact, "is a snapshot; Central takes none");
            if (artifact.has(".pom")) {
                poms.put(artifact.name(), Pom.read(artifact.folder().resolve(artifact.file(".pom"))));
            } else {
                require(false, artifact, "has no POM");
            }
        }
        if (artifacts.isEmpty()) {
            violations.add(bundle + " has no artifacts");
        }
    }

    private void checkFiles(Artifact artifact) throws IOException {
        for (String file : artifact.published()) {
            require(
                    file.startsWith(artifact.name() + "-" + artifact.version()),
                    artifact,
                    "has " + file + ", which is not named after it");
            require(artifact.files().contains(file + ".asc"), artifact, "has no signature of " + file);
            checkSum(artifact, file, ".md5", "MD5");
            checkSum(artifact, file, ".sha1", "SHA-1");
        }
        if (isJar(artifact)) {
            checkJar(artifact, ".jar", "");
            checkJar(artifact, "-sources.jar", ".java .kt .md");
            checkJar(artifact, "-javadoc.jar", ".html .md");
            require(artifact.has("-cyclonedx.json"), artifact, "has no list of what is in it (-cyclonedx.json)");
        }
    }

    private boolean isJar(Artifact artifact) {
        Pom pom = poms.get(artifact.name());
        return pom != null && pom.text("packaging").orElse("jar").equals("jar");
    }

    private void checkJar(Artifact artifact, String end, String wantedEnds) throws IOException {
        if (!artifact.has(end)) {
            require(false, artifact, "has no " + artifact.file(end));
            return;
        }
        try (ZipFile jar =
                new ZipFile(artifact.folder().resolve(artifact.file(end)).toFile())) {
            boolean found = jar.stream()
                    .anyMatch(entry -> List.of(wantedEnds.split(" ")).stream().anyMatch(entry.getName()::endsWith));
            require(found, artifact, "has an empty " + artifact.file(end));
        }
    }

    private void checkSum(Artifact artifact, String file, String end, String algorithm) throws IOException {
        if (!artifact.files().contains(file + end)) {
            require(false, artifact, "has no " + file + end);
            return;
        }
        String said = Files.readString(artifact.folder().resolve(file + end), StandardCharsets.US_ASCII)
                .strip();
        String is = sum(artifact.folder().resolve(file), algorithm);
        require(said.equals(is), artifact, "has " + file + end + " with " + said + ", but the sum is " + is);
    }

    private static String sum(Path file, String algorithm) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void checkPom(Artifact artifact) {
        Pom pom = poms.get(artifact.name());
        if (pom == null) {
            return;
        }
        require(
                inherited(pom, "groupId").equals(Optional.of(artifact.group())),
                artifact,
                "has a POM of another group");
        require(
                inherited(pom, "version").equals(Optional.of(artifact.version())),
                artifact,
                "has a POM of another version");
        require(pom.text("artifactId").equals(Optional.of(artifact.name())), artifact, "has a POM of another artifact");
        require(pom.text("name").isPresent(), artifact, "has a POM without name");
        require(pom.text("description").isPresent(), artifact, "has a POM without description");
        for (String path : ASKED) {
            require(inherited(pom, path).isPresent(), artifact, "has a POM without " + path);
        }
        for (String path : ASKED_OF_SCM) {
            require(inherited(pom, path).isPresent(), artifact, "has a POM without " + path);
        }
        checkDependencies(artifact, pom);
    }

    private void checkDependencies(Artifact artifact, Pom pom) {
        for (Pom.Dependency dependency : pom.dependencies("dependencies/dependency")) {
            require(
                    !dependency.version().endsWith("-SNAPSHOT"),
                    artifact,
                    "depends on the snapshot " + dependency.artifact() + " " + dependency.version());
            boolean ours = dependency.group().equals(artifact.group());
            boolean comesAlong =
                    !dependency.scope().equals("test") && !dependency.scope().equals("provided");
            require(
                    !ours || !comesAlong || artifacts.containsKey(dependency.artifact()),
                    artifact,
                    "depends on " + dependency.artifact() + ", which is not in the bundle");
        }
        pom.text("parent/artifactId")
                .ifPresent(parent -> require(
                        artifacts.containsKey(parent), artifact, "has the parent " + parent + ", not in the bundle"));
    }

    /** What a POM says, or else its nearest ancestor in the bundle. */
    private Optional<String> inherited(Pom pom, String path) {
        Optional<String> own = pom.text(path);
        if (own.isPresent()) {
            return own;
        }
        return pom.text("parent/artifactId").map(poms::get).flatMap(parent -> inherited(parent, path));
    }

    private void checkBom() {
        Pom bom = poms.get(BOM);
        if (bom == null) {
            violations.add(BOM + " is not in the bundle");
            return;
        }
        TreeSet<String> listed = new TreeSet<>();
        bom.dependencies("dependencyManagement/dependencies/dependency").forEach(one -> listed.add(one.artifact()));
        TreeSet<String> jars = new TreeSet<>();
        artifacts.values().stream().filter(this::isJar).forEach(artifact -> jars.add(artifact.name()));
        for (String name : listed) {
            if (!jars.contains(name)) {
                violations.add(BOM + " lists " + name + ", which is not in the bundle");
            }
        }
        for (String name : jars) {
            if (!listed.contains(name)) {
                violations.add(BOM + " does not list " + name);
            }
        }
    }

    private void require(boolean holds, Artifact artifact, String otherwise) {
        if (!holds) {
            violations.add(artifact.name() + " " + artifact.version() + " " + otherwise);
        }
    }
}
