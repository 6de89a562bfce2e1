package io.conclave.junit;

import io.conclave.testkit.proxy.FaultProxy;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The proxies between one coordinator and the servers, one for each server. */
final class ProxiedClient implements AutoCloseable {
    private final List<FaultProxy> proxies;

    private ProxiedClient(List<FaultProxy> proxies) {
        this.proxies = proxies;
    }

    /** Proxies to servers that are given as {@code host:port,host:port}. */
    static ProxiedClient of(String hostsAndPorts) {
        return new ProxiedClient(Arrays.stream(hostsAndPorts.split(",", -1))
                .map(server -> URI.create("conclave://" + server))
                .map(server -> FaultProxy.to(server.getHost(), server.getPort()))
                .toList());
    }

    String connectString() {
        return proxies.stream()
                .map(proxy -> "127.0.0.1:" + proxy.port())
                .collect(Collectors.joining(",", "conclave://", ""));
    }

    void cutOff() {
        proxies.forEach(FaultProxy::isolate);
    }

    void restore() {
        proxies.forEach(FaultProxy::restore);
    }

    /** Loses the next message of the server to which the coordinator is connected. */
    void loseNextReply() {
        proxies.stream()
                .filter(proxy -> proxy.openConnections() > 0)
                .forEach(proxy -> proxy.cutAtNext(FaultProxy.Direction.TO_CLIENT));
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
    }
}
