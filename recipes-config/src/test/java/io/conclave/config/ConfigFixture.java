package io.conclave.config;

import io.conclave.coordinator.Coordinator;
import io.conclave.node.NodePath;
import io.conclave.request.Create;
import io.conclave.request.Delete;
import io.conclave.request.SetData;
import io.conclave.testkit.contract.RecipeFixture;
import java.nio.charset.StandardCharsets;

/** Where the tests of the configuration service's contract work. */
abstract class ConfigFixture extends RecipeFixture {

    static void create(Coordinator coordinator, String path, String text) throws InterruptedException {
        coordinator.execute(Create.of(NodePath.of(path)).withData(text.getBytes(StandardCharsets.UTF_8)));
    }

    static void set(Coordinator coordinator, String path, String text) throws InterruptedException {
        coordinator.execute(SetData.of(NodePath.of(path), text.getBytes(StandardCharsets.UTF_8)));
    }

    static void delete(Coordinator coordinator, String path) throws InterruptedException {
        coordinator.execute(Delete.of(NodePath.of(path)));
    }
}
