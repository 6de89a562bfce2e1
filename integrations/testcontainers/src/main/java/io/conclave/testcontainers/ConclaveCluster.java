package io.conclave.testcontainers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.ContainerNetwork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.rnorth.ducttape.unreliables.Unreliables;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Network;
import org.testcontainers.lifecycle.Startable;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.utility.DockerImageName;

/**
 * Servers in containers that form a cluster, to test what an application does when servers die, stall, or lose sight of
 * each other. They have the numbers 1 to n, and a secret of their own.
 *
 * <p>Clients use one network, the members among themselves another one: so {@link #disconnect} cuts a server off from
 * the others, and its clients still reach it.
 *
 * <p>One thread at a time may call the methods. They block until their work is done. Servers are numbered; a wrong
 * number is an {@link IllegalArgumentException}.
 */
public class ConclaveCluster implements Startable {
    private static final int SECRET_BYTES = 32;
    private static final int PATIENCE_S = 120;

    private final List<ConclaveContainer> servers = new ArrayList<>();
    private final Network clients;
    private final Network members;

    /**
     * A cluster of an image that is called {@code conclave}; nothing runs yet.
     *
     * @param size how many servers there are: 3 survive the loss of one
     */
    public ConclaveCluster(String image, int size) {
        this(DockerImageName.parse(image), size);
    }

    /** As {@link #ConclaveCluster(String, int)}; see {@link ConclaveContainer#ConclaveContainer(DockerImageName)}. */
    public ConclaveCluster(DockerImageName image, int size) {
        if (size < 1) {
            throw new IllegalArgumentException("Invalid number of servers " + size + ": it must be 1 or more");
        }
        clients = Network.newNetwork();
        // ports are never published on an internal network, so they stay when a server leaves it
        members = Network.builder()
                .createNetworkCmdModifier(network -> network.withInternal(true))
                .build();
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        String lines = IntStream.rangeClosed(1, size)
                .mapToObj(id -> "server." + id + "=" + member(id) + ":2888;" + ConclaveContainer.CLIENT_PORT)
                .collect(Collectors.joining(" "));
        for (int id = 1; id <= size; id++) {
            servers.add(new Member(image, id)
                    .withNetwork(clients)
                    .withNetworkAliases("conclave-" + id)
                    .withEnv("ZOO_MY_ID", Integer.toString(id))
                    .withEnv("ZOO_SERVERS", lines)
                    .withEnv("CONCLAVE_INIT", "1")
                    .withEnv("CONCLAVE_PEER_SECRET", Base64.getEncoder().encodeToString(secret)));
        }
    }

    private static String member(int id) {
        return "member-" + id;
    }

    /** One of the servers, which joins the network of the members before it starts. */
    private final class Member extends ConclaveContainer {
        private final int id;

        Member(DockerImageName image, int id) {
            super(image);
            this.id = id;
        }

        @Override
        protected void containerIsCreated(String containerId) {
            connect(containerId, id);
        }
    }

    private void connect(String containerId, int id) {
        DockerClientFactory.lazyClient()
                .connectToNetworkCmd()
                .withNetworkId(members.getId())
                .withContainerId(containerId)
                .withContainerNetwork(new ContainerNetwork().withAliases(List.of(member(id))))
                .exec();
    }

    /** Changes each server before it is started, as by {@code withEnv}. */
    public ConclaveCluster withEach(Consumer<? super ConclaveContainer> change) {
        servers.forEach(change);
        return this;
    }

    /** The server of a number. */
    public ConclaveContainer getServer(int id) {
        if (id < 1 || id > servers.size()) {
            throw new IllegalArgumentException("There is no server " + id + ", only 1 to " + servers.size());
        }
        return servers.get(id - 1);
    }

    /**
     * The network of the clients, for an application in a container: there the servers are {@code conclave-1} and so
     * on.
     */
    public Network getNetwork() {
        return clients;
    }

    /** The connect string of a client outside of containers. Servers that do not run are left out. */
    public String getConnectString() {
        return servers.stream()
                .filter(ConclaveContainer::isRunning)
                .map(ConclaveContainer::getHostAndPort)
                .collect(Collectors.joining(",", "conclave://", ""));
    }

    /** Starts the servers, and waits until all of them serve and vote. */
    @Override
    public void start() {
        servers.get(0).start(); // makes the cluster, which takes the others in
        Startables.deepStart(servers.subList(1, servers.size())).join();
        if (servers.size() > 1) {
            Unreliables.retryUntilTrue(PATIENCE_S, TimeUnit.SECONDS, this::allVote);
        }
    }

    private boolean allVote() {
        String lines = listing();
        return IntStream.rangeClosed(1, servers.size()).allMatch(id -> lines.lines()
                .anyMatch(line -> line.startsWith("server." + id + "=") && line.contains(":participant")));
    }

    private String listing() {
        try {
            return servers.get(0)
                    .execInContainer("conclave-server", "members", "/conf/zoo.cfg")
                    .getStdout();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for the cluster", e);
        }
    }

    /** Ends a server as a power failure does, with SIGKILL; what it had written stays. */
    public void kill(int id) {
        client().killContainerCmd(getServer(id).getContainerId()).exec();
    }

    /** Starts a server that was killed, and waits until it serves. It gets another port of the host. */
    public void restart(int id) {
        ConclaveContainer server = getServer(id);
        client().startContainerCmd(server.getContainerId()).exec();
        new ServingWaitStrategy()
                .withStartupTimeout(Duration.ofSeconds(PATIENCE_S))
                .waitUntilReady(server);
    }

    /** Makes a server stand still, as SIGSTOP does: its connections stay open, and it is silent. */
    public void pause(int id) {
        client().pauseContainerCmd(getServer(id).getContainerId()).exec();
    }

    /** Ends {@link #pause}. For a moment the server may still act as the leader. */
    public void resume(int id) {
        client().unpauseContainerCmd(getServer(id).getContainerId()).exec();
    }

    /** Cuts a server off from all others. Its clients still reach it. */
    public void disconnect(int id) {
        client().disconnectFromNetworkCmd()
                .withNetworkId(members.getId())
                .withContainerId(getServer(id).getContainerId())
                .withForce(true)
                .exec();
    }

    /** Ends {@link #disconnect}; the server has another address among the members. */
    public void reconnect(int id) {
        connect(getServer(id).getContainerId(), id);
    }

    private static DockerClient client() {
        return DockerClientFactory.lazyClient();
    }

    /** Whether a server serves its clients now. Blocks for some seconds at most. */
    public boolean isServing(int id) {
        ConclaveContainer server = getServer(id);
        return server.isRunning() && ServingWaitStrategy.serves(server);
    }

    /** Ends and removes the servers and their networks. */
    @Override
    public void stop() {
        servers.forEach(ConclaveContainer::stop);
        members.close();
        clients.close();
    }
}
