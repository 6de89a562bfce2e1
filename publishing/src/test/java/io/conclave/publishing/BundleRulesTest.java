package io.conclave.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A small bundle that keeps all rules, and each rule broken in turn. */
class BundleRulesTest {
    private static final String PARENT = """
            <project>
              <groupId>g.c</groupId><artifactId>parent</artifactId><version>1</version><packaging>pom</packaging>
              <name>Parent</name><description>of all</description><url>${address}</url>
              <licenses><license><name>L</name><url>l</url></license></licenses>
              <developers><developer><name>D</name></developer></developers>
              <scm><connection>${address}</connection><developerConnection>d</developerConnection><url>u</url></scm>
              <properties><address>a</address></properties>
            </project>
            """;
    private static final String BOM = """
            <project>
              <parent><groupId>g.c</groupId><artifactId>parent</artifactId><version>1</version></parent>
              <artifactId>conclave-bom</artifactId><packaging>pom</packaging>
              <name>Bom</name><description>of versions</description>
              <dependencyManagement><dependencies><dependency>
                <groupId>g.c</groupId><artifactId>locks</artifactId><version>1</version>
              </dependency></dependencies></dependencyManagement>
            </project>
            """;
    private static final String LOCKS = """
            <project>
              <parent><groupId>g.c</groupId><artifactId>parent</artifactId><version>1</version></parent>
              <artifactId>locks</artifactId><name>Locks</name><description>of all kinds</description>
              <dependencies><dependency>
                <groupId>g.c</groupId><artifactId>testkit</artifactId><version>1</version><scope>test</scope>
              </dependency></dependencies>
            </project>
            """;

    @TempDir
    private Path bundle;

    @BeforeEach
    void makeABundleThatKeepsAllRules() throws Exception {
        put("parent", ".pom", PARENT);
        put("conclave-bom", ".pom", BOM);
        put("locks", ".pom", LOCKS);
        put("locks", "-cyclonedx.json", "{}");
        putJar(".jar", "a/B.class");
        putJar("-sources.jar", "a/B.java");
        putJar("-javadoc.jar", "index.html");
    }

    @Test
    void aWholeBundleBreaksNoRule() throws Exception {
        broken();
    }

    @Test
    void aFileIsMissing() throws Exception {
        for (String end : List.of(".jar", "-sources.jar", "-javadoc.jar")) {
            Path file = file("locks", end);
            Path aside = Files.move(file, bundle.resolveSibling(file.getFileName()));
            for (String companion : List.of(".asc", ".md5", ".sha1")) {
                Files.move(beside(file, companion), beside(aside, companion));
            }
            broken("locks 1 has no locks-1" + end);
            Files.move(aside, file);
            for (String companion : List.of(".asc", ".md5", ".sha1")) {
                Files.move(beside(aside, companion), beside(file, companion));
            }
        }
    }

    @Test
    void aFileIsNotSigned() throws Exception {
        Files.delete(beside(file("locks", "-sources.jar"), ".asc"));
        broken("locks 1 has no signature of locks-1-sources.jar");
    }

    @Test
    void aSumIsMissingOrWrong() throws Exception {
        Files.delete(beside(file("locks", ".pom"), ".md5"));
        Files.writeString(beside(file("locks", ".pom"), ".sha1"), "abc");
        broken(
                "locks 1 has no locks-1.pom.md5",
                "locks 1 has locks-1.pom.sha1 with abc, but the sum is " + sum(LOCKS, "SHA-1"));
    }

    @Test
    void aJarIsEmpty() throws Exception {
        putJar("-sources.jar", "META-INF/MANIFEST.MF");
        broken("locks 1 has an empty locks-1-sources.jar");
    }

    @Test
    void aPomSaysTooLittle() throws Exception {
        put(
                "parent",
                ".pom",
                PARENT.replace("<url>${address}</url>", "").replaceAll("<developers>.*</developers>", ""));
        put("locks", ".pom", LOCKS.replace("<name>Locks</name>", ""));
        broken(
                "conclave-bom 1 has a POM without url",
                "conclave-bom 1 has a POM without developers/developer/name",
                "locks 1 has a POM without name",
                "locks 1 has a POM without url",
                "locks 1 has a POM without developers/developer/name",
                "parent 1 has a POM without url",
                "parent 1 has a POM without developers/developer/name");
    }

    @Test
    void aPomIsThatOfAnotherArtifact() throws Exception {
        put("locks", ".pom", LOCKS.replace("<artifactId>locks", "<version>2</version><artifactId>other"));
        broken("locks 1 has a POM of another version", "locks 1 has a POM of another artifact");
    }

    @Test
    void aDependencyIsNotInTheBundle() throws Exception {
        put("locks", ".pom", LOCKS.replace("<scope>test</scope>", ""));
        broken("locks 1 depends on testkit, which is not in the bundle");
    }

    @Test
    void aDependencyIsASnapshot() throws Exception {
        put("locks", ".pom", LOCKS.replace("<version>1</version><scope>", "<version>2-SNAPSHOT</version><scope>"));
        broken("locks 1 depends on the snapshot testkit 2-SNAPSHOT");
    }

    @Test
    void theBomDoesNotListAJar() throws Exception {
        put("conclave-bom", ".pom", BOM.replace("<artifactId>locks", "<artifactId>bolts"));
        broken("conclave-bom lists bolts, which is not in the bundle", "conclave-bom does not list locks");
    }

    @Test
    void aFileOfARepositoryIsInTheWay() throws Exception {
        Files.writeString(bundle.resolve("g/c/locks/1/maven-metadata.xml"), "<metadata/>");
        broken(
                "locks 1 has maven-metadata.xml, which is not named after it",
                "locks 1 has no signature of maven-metadata.xml",
                "locks 1 has no maven-metadata.xml.md5",
                "locks 1 has no maven-metadata.xml.sha1");
    }

    private void broken(String... violations) throws IOException {
        assertEquals(List.of(violations), BundleRules.violations(bundle));
    }

    private Path file(String artifact, String end) {
        return bundle.resolve("g/c/" + artifact + "/1/" + artifact + "-1" + end);
    }

    private static Path beside(Path file, String end) {
        return file.resolveSibling(file.getFileName() + end);
    }

    private void put(String artifact, String end, String text) throws Exception {
        put(artifact, end, text.getBytes(StandardCharsets.UTF_8));
    }

    private void putJar(String end, String entry) throws Exception {
        Path jar = file("locks", end);
        try (OutputStream file = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(file)) {
            zip.putNextEntry(new ZipEntry(entry));
        }
        put("locks", end, Files.readAllBytes(jar));
    }

    private void put(String artifact, String end, byte[] content) throws Exception {
        Path file = file(artifact, end);
        Files.createDirectories(file.getParent());
        Files.write(file, content);
        Files.writeString(beside(file, ".asc"), "-----BEGIN PGP SIGNATURE-----");
        Files.writeString(beside(file, ".md5"), sum(content, "MD5"));
        Files.writeString(beside(file, ".sha1"), sum(content, "SHA-1"));
    }

    private static String sum(String text, String algorithm) throws Exception {
        return sum(text.getBytes(StandardCharsets.UTF_8), algorithm);
    }

    private static String sum(byte[] content, String algorithm) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(content));
    }
}
