package io.conclave.testcontainers;

import com.github.dockerjava.api.command.InspectContainerResponse;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * One server in a container, made of the image that {@code backend-native/distribution/docker} builds. The variables of
 * that image are set with {@code withEnv}.
 *
 * <pre>{@code
 * try (ConclaveContainer server = new ConclaveContainer("conclave:0.1.0")) {
 *     server.start();
 *     try (Coordinator coordinator = Coordinator.connect(server.getConnectString())) {
 *         ...
 *     }
 * }
 * }</pre>
 *
 * <p>{@link #start} blocks until the server serves, for a minute at most.
 */
public class ConclaveContainer extends GenericContainer<ConclaveContainer> {
    /** The port of clients inside the container. */
    public static final int CLIENT_PORT = 2181;

    private static final DockerImageName IMAGE = DockerImageName.parse("conclave");

    /** A server of an image that is called {@code conclave}, such as {@code conclave:0.1.0}. */
    public ConclaveContainer(String image) {
        this(DockerImageName.parse(image));
    }

    /**
     * A server of an image; one with another name needs {@code asCompatibleSubstituteFor("conclave")}.
     *
     * @throws IllegalStateException if it is not said to be compatible
     */
    @SuppressWarnings("this-escape") // as containers are made: what is called is Testcontainers' own, and sets fields
    public ConclaveContainer(DockerImageName image) {
        super(image);
        image.assertCompatibleWith(IMAGE);
        addExposedPort(CLIENT_PORT);
        setWaitStrategy(new ServingWaitStrategy());
    }

    /** The connect string of a client outside of containers. The server must run. */
    public String getConnectString() {
        return "conclave://" + getHostAndPort();
    }

    /** The server as {@code host:port}, for clients that want no scheme. The server must run. */
    public String getHostAndPort() {
        return getHost() + ":" + getMappedPort(CLIENT_PORT);
    }

    /** As it is now: a container that is started again gets another port of the host. */
    @Override
    public InspectContainerResponse getContainerInfo() {
        return getContainerId() == null ? super.getContainerInfo() : getCurrentContainerInfo();
    }
}
