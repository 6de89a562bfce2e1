package io.conclave.proofs.ensemble;

import io.conclave.testkit.proxy.FaultProxy;
import io.conclave.testkit.proxy.FaultProxy.Direction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * All members on the loopback interface, with TCP proxies between them.
 *
 * <p>Members know each other by names ({@code member-2}), and each JVM has a hosts file of its own, in which its own
 * name is 127.0.0.1 and the name of another is an address of a proxy that stands for this direction alone. So all have
 * the same configuration, and an address that one member tells another (as Apache ZooKeeper does in its elections)
 * leads through the proxy as well.
 */
final class ProxiedNetwork implements PeerNetwork {
    private final List<Link> links = new ArrayList<>();
    private List<Path> hostsFiles = List.of();

    /** The proxies for connections that one member opens to another, one for each port. */
    private record Link(int from, int to, List<FaultProxy> proxies) {}

    @Override
    public String nameOf(int member) {
        return "member-" + member;
    }

    @Override
    public String clientHostOf(int member) {
        return "127.0.0.1";
    }

    @Override
    public String clientBindAddressOf(int member) {
        return "127.0.0.1";
    }

    @Override
    public void open(Path home, List<PeerPorts> ports) {
        int count = ports.size();
        hostsFiles = IntStream.rangeClosed(1, count)
                .mapToObj(member -> writeHosts(home.resolve("hosts-" + member), member, count))
                .toList();
        for (int from = 1; from <= count; from++) {
            for (int to = 1; to <= count; to++) {
                if (from != to) {
                    links.add(new Link(from, to, proxies(addressOf(from, to), ports.get(to - 1))));
                }
            }
        }
    }

    private Path writeHosts(Path file, int member, int count) {
        List<String> lines = new ArrayList<>(List.of("127.0.0.1 localhost"));
        for (int other = 1; other <= count; other++) {
            lines.add((other == member ? "127.0.0.1" : addressOf(member, other)) + " " + nameOf(other));
        }
        try {
            return Files.write(file, lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String addressOf(int from, int to) {
        return "127.77." + from + "." + to;
    }

    private static List<FaultProxy> proxies(String address, PeerPorts target) {
        return IntStream.of(target.peer(), target.election())
                .mapToObj(port -> FaultProxy.at(new InetSocketAddress(address, port), PeerNetwork.loopback(port)))
                .toList();
    }

    @Override
    public List<String> commandPrefixOf(int member) {
        return List.of();
    }

    @Override
    public List<String> jvmOptionsOf(int member) {
        return List.of("-Djdk.net.hosts.file=" + hostsFiles.get(member - 1));
    }

    @Override
    public void cut(int from, int to) {
        onTheWay(from, to, FaultProxy::stall);
    }

    @Override
    public void mend(int from, int to) {
        onTheWay(from, to, FaultProxy::flow);
    }

    @Override
    public boolean delay(int from, int to, Duration delay) {
        onTheWay(from, to, (proxy, direction) -> proxy.delay(direction, delay));
        return true;
    }

    /** What a member sends to another goes over connections that either has opened. */
    private void onTheWay(int from, int to, BiConsumer<FaultProxy, Direction> fault) {
        for (Link link : links) {
            if (link.from == from && link.to == to) {
                link.proxies.forEach(proxy -> fault.accept(proxy, Direction.TO_TARGET));
            } else if (link.from == to && link.to == from) {
                link.proxies.forEach(proxy -> fault.accept(proxy, Direction.TO_CLIENT));
            }
        }
    }

    @Override
    public void close() {
        links.forEach(link -> link.proxies.forEach(FaultProxy::close));
    }
}
