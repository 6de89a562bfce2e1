package io.conclave.proofs.architecture;

import io.conclave.proofs.architecture.Modules.Module;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Our modules as Java's module path has them: by their descriptors, or as automatic modules. */
final class JavaModules {
    private static final List<ModuleDescriptor> DESCRIPTORS = read();

    private JavaModules() {}

    private static List<ModuleDescriptor> read() {
        List<ModuleDescriptor> found = new ArrayList<>();
        try {
            for (URL url : Collections.list(JavaModules.class.getClassLoader().getResources("module-info.class"))) {
                try (InputStream in = url.openStream()) {
                    found.add(ModuleDescriptor.read(in));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static Optional<ModuleDescriptor> descriptor(Module module) {
        return DESCRIPTORS.stream()
                .filter(descriptor -> module.packages().stream()
                        .anyMatch(name -> descriptor.packages().contains("io.conclave." + name)))
                .findFirst();
    }

    /** An automatic module has the name of its first package ({@code module.name} in its pom.xml). */
    static String nameOf(Module module) {
        return descriptor(module)
                .map(ModuleDescriptor::name)
                .orElseGet(() -> "io.conclave." + module.packages().get(0));
    }

    /** An automatic module exports all of its packages. */
    static boolean exports(Module module, String packageName, Module reader) {
        return descriptor(module)
                .map(descriptor -> descriptor.exports().stream()
                        .filter(exported -> exported.source().equals(packageName))
                        .anyMatch(exported ->
                                !exported.isQualified() || exported.targets().contains(nameOf(reader))))
                .orElse(true);
    }
}
