package io.conclave.spring.boot;

import io.conclave.testcontainers.ConclaveContainer;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;

/**
 * What Boot finds by its modules for Testcontainers and for Docker Compose; each is loaded only where its module is.
 */
final class ServiceConnections {
    private ServiceConnections() {}

    /** Connects tests to a {@link ConclaveContainer} with {@code @ServiceConnection}. */
    static final class Testcontainers
            extends ContainerConnectionDetailsFactory<ConclaveContainer, ConclaveConnectionDetails> {
        Testcontainers() {}

        @Override
        protected ConclaveConnectionDetails getContainerConnectionDetails(
                ContainerConnectionSource<ConclaveContainer> source) {
            return new InContainer(source);
        }

        /** Asks the container late: it runs when the coordinator is made. */
        private static final class InContainer extends ContainerConnectionDetails<ConclaveContainer>
                implements ConclaveConnectionDetails {
            InContainer(ContainerConnectionSource<ConclaveContainer> source) {
                super(source);
            }

            @Override
            public String getConnectString() {
                return getContainer().getConnectString();
            }
        }
    }

    /**
     * Connects an application to the service of Docker Compose whose image is called {@code conclave}, in whatever
     * registry that is; or whose label {@code org.springframework.boot.service-connection} says so of another image.
     */
    static final class DockerCompose extends DockerComposeConnectionDetailsFactory<ConclaveConnectionDetails> {
        private static final String NAME = "conclave";
        private static final String LABEL = "org.springframework.boot.service-connection";

        DockerCompose() {
            super(source -> isOurs(source.getRunningService()));
        }

        private static boolean isOurs(RunningService service) {
            String name = service.labels().getOrDefault(LABEL, service.image().getName());
            return name.substring(name.lastIndexOf('/') + 1).equals(NAME);
        }

        @Override
        protected ConclaveConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
            return new OfCompose(source.getRunningService());
        }

        /** Where a client on the host finds the service. */
        private static final class OfCompose extends DockerComposeConnectionDetails
                implements ConclaveConnectionDetails {
            private final String connectString;

            OfCompose(RunningService service) {
                super(service);
                connectString =
                        "conclave://" + service.host() + ":" + service.ports().get(ConclaveContainer.CLIENT_PORT);
            }

            @Override
            public String getConnectString() {
                return connectString;
            }
        }
    }
}
