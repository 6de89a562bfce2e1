package io.conclave.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {
    private static final JavaClasses SERVER = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(
                    "io.conclave.tree",
                    "io.conclave.backup",
                    "io.conclave.replica",
                    "io.conclave.connection",
                    "io.conclave.server",
                    "io.conclave.embedded");

    @Test
    void eachPackageKnowsOnlyThoseBeforeIt() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("tree")
                .definedBy("io.conclave.tree")
                .layer("backup")
                .definedBy("io.conclave.backup")
                .layer("replica")
                .definedBy("io.conclave.replica")
                .layer("connection")
                .definedBy("io.conclave.connection")
                .layer("server")
                .definedBy("io.conclave.server")
                .layer("embedded")
                .definedBy("io.conclave.embedded")
                .layer("faults")
                .definedBy("io.conclave.server.faults")
                .whereLayer("faults")
                .mayOnlyBeAccessedByLayers("server")
                .whereLayer("embedded")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("server")
                .mayOnlyBeAccessedByLayers("embedded")
                .whereLayer("connection")
                .mayOnlyBeAccessedByLayers("server")
                .whereLayer("replica")
                .mayOnlyBeAccessedByLayers("connection", "server")
                .whereLayer("backup")
                .mayOnlyBeAccessedByLayers("connection", "server")
                .whereLayer("tree")
                .mayOnlyBeAccessedByLayers("backup", "replica", "connection", "server")
                .check(SERVER);
    }

    @Test
    void theTreeIsPure() {
        noClasses()
                .that()
                .resideInAPackage("io.conclave.tree")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "java.util.concurrent..",
                        "java.nio.file..",
                        "java.net..",
                        "io.netty..",
                        "org.slf4j..",
                        "io.conclave.time..",
                        "io.conclave.consensus..")
                .check(SERVER);
    }

    @Test
    void onlyTheEmbeddedModeKnowsTheClient() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.conclave.embedded")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.conclave.client..")
                .check(SERVER);
    }

    @Test
    void noClassReadsAClockOrSleeps() {
        noClasses()
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .orShould()
                .callMethod(Thread.class, "sleep", long.class)
                .check(SERVER);
    }
}
