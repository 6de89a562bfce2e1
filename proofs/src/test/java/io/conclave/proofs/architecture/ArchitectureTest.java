package io.conclave.proofs.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import io.conclave.proofs.architecture.Modules.Module;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The rules of the architecture, checked against the byte code of all product modules; and against planted classes that
 * break it.
 */
class ArchitectureTest {
    private static JavaClasses product;
    private static JavaClasses planted;

    @BeforeAll
    static void readByteCode() {
        product = new ClassFileImporter()
                .withImportOption(ArchitectureTest::isProduct)
                .importPackages("io.conclave")
                .that(DescribedPredicate.describe(
                        "not of the proofs", type -> !type.getPackageName().startsWith("io.conclave.proofs")));
        planted = new ClassFileImporter().importPackages(ArchitectureTest.class.getPackageName() + ".planted");
    }

    private static boolean isProduct(Location location) {
        return !location.contains("/test-classes/") && !location.contains("-tests.jar");
    }

    @Test
    void everyPackageBelongsToAModuleOfThePlan() {
        Set<String> strangers = product.stream()
                .filter(type -> Modules.of(type).isEmpty())
                .map(JavaClass::getPackageName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), strangers, "packages that are not in the table of modules");
        assertTrue(product.size() > 200, "too few classes were read to prove anything: " + product.size());
    }

    @Test
    void modulesUseOnlyWhatTheirArrowsAllow() {
        assertNone(violations(Rules::wrongArrows));
    }

    @Test
    void noPackageUsesOneAboveIt() {
        assertNone(violations(Rules::againstPackageOrder));
    }

    @Test
    void whatAModuleUsesIsExportedToIt() {
        assertNone(violations(Rules::unexported));
    }

    @Test
    void onlyTheTimeSourceReadsAClockOrSleeps() {
        assertNone(violations(
                (type, home) -> type.getPackageName().equals("io.conclave.time") ? List.of() : Rules.clockReads(type)));
    }

    @Test
    void theTreeHasNoClockRandomnessThreadsOrFiles() {
        assertNone(violations((type, home) ->
                type.getPackageName().startsWith("io.conclave.tree") ? Rules.impurities(type) : List.of()));
    }

    @Test
    void publicRecordsOfApplicationsHaveNoArrays() {
        assertNone(violations((type, home) -> home.isInternal() ? List.of() : Rules.arrayComponents(type)));
    }

    @Test
    void requestsAndRepliesAreRecordsOfFourInterfaces() {
        assertNone(violations((type, home) -> Rules.looseBodies(type)));
        long pages = product.stream()
                .filter(type -> type.isAssignableTo("io.conclave.protocol.WireRecord") && type.isTopLevelClass())
                .filter(type -> type.isInterface() && !type.getSimpleName().equals("WireRecord"))
                .count();
        assertEquals(4, pages, "RequestBody, WatchRequest, ConnectionRequest and ReplyBody");
    }

    @Test
    void onlyServerTestingInjectsFaultsIntoServers() {
        assertNone(violations(Rules::usesOfServerFaults));
    }

    /** What reads a client answers through its connection, which calls none of it by name. */
    @Test
    void aConnectionKnowsNoPartThatAnswersThroughIt() {
        JavaClass connection = product.get("io.conclave.connection.ClientConnection");
        Set<String> known = connection.getDirectDependenciesFromSelf().stream()
                .map(Dependency::getTargetClass)
                .filter(type -> type.getFields().stream()
                        .anyMatch(field -> field.getRawType().equals(connection)))
                .map(JavaClass::getSimpleName)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), known, "classes that have a connection, and that it uses");
    }

    @Test
    void noTwoTopLevelClassesHaveTheSameSimpleName() {
        assertNone(Rules.sharedNames(product.stream()).stream());
    }

    @Test
    void aPlantedNameOfAnotherClassIsFound() {
        Stream<JavaClass> withPlanted = Stream.concat(product.stream(), Stream.of(plantedClass("ConclaveServer")));
        List<String> found = Rules.sharedNames(withPlanted);
        assertTrue(found.stream().anyMatch(text -> text.contains("planted.ConclaveServer")), found::toString);
    }

    @Test
    void aPlantedFaultOfAServerIsFound() {
        JavaClass planted = plantedClass("ConclaveServer");
        assertFalse(
                Rules.usesOfServerFaults(planted, module("recipes-election")).isEmpty());
        assertTrue(Rules.usesOfServerFaults(planted, module("server-testing")).isEmpty());
    }

    @Test
    void aPlantedArrayInARecordIsFound() {
        assertEquals(1, Rules.arrayComponents(plantedClass("ArrayRecord")).size());
    }

    @Test
    void aPlantedClockIsFound() {
        List<String> found = Rules.clockReads(plantedClass("ClockReader"));
        for (String read : List.of(
                "nanoTime",
                "currentTimeMillis",
                "Instant.now",
                "Date.<init>",
                "Thread.sleep",
                "newScheduledThreadPool",
                "orTimeout")) {
            assertTrue(found.stream().anyMatch(text -> text.contains(read)), read + " is not among " + found);
        }
        assertFalse(Rules.impurities(plantedClass("ClockReader")).isEmpty());
    }

    @Test
    void aPlantedRecipeOnARecipeIsFound() {
        Module election = module("recipes-election");
        assertFalse(Rules.wrongArrows(plantedClass("RecipeOnRecipe"), election).isEmpty());
    }

    @Test
    void aPlantedUseOfAPackageThatIsNotExportedIsFound() {
        JavaClass planted = plantedClass("HiddenPackage");
        assertFalse(Rules.unexported(planted, module("micrometer")).isEmpty());
        assertEquals(List.of(), Rules.unexported(planted, module("recipes-locks")));
    }

    @Test
    void aBreakOfThePackageOrderIsFound() {
        JavaClass server = product.get("io.conclave.server.ConclaveServer");
        Module right = module("server");
        List<String> reversed = new ArrayList<>(right.packages());
        Collections.reverse(reversed);
        Module upsideDown = new Module("server", reversed, right.uses(), right.foreign());
        assertTrue(Rules.againstPackageOrder(server, right).isEmpty());
        assertFalse(Rules.againstPackageOrder(server, upsideDown).isEmpty());
    }

    private static Module module(String name) {
        return Modules.ALL.stream()
                .filter(module -> module.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static JavaClass plantedClass(String name) {
        return planted.get(ArchitectureTest.class.getPackageName() + ".planted." + name);
    }

    private static Module home(JavaClass type) {
        return Modules.of(type).orElseThrow();
    }

    private static Stream<String> violations(BiFunction<JavaClass, Module, List<String>> rule) {
        return product.stream()
                .filter(type -> Modules.of(type).isPresent())
                .flatMap(type -> rule.apply(type, home(type)).stream());
    }

    private static void assertNone(Stream<String> violations) {
        List<String> found = violations.distinct().sorted().toList();
        assertEquals(0, found.size(), () -> found.size() + " violations:\n" + String.join("\n", found));
    }
}
