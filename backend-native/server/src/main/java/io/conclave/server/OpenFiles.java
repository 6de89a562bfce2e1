package io.conclave.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The files and connections that this process has open; -1 where the system does not tell, as in ZooKeeper. */
final class OpenFiles {
    private static final long UNKNOWN = -1;

    private OpenFiles() {}

    static long count() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getOpenFileDescriptorCount()
                : UNKNOWN;
    }

    static long most() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : UNKNOWN;
    }
}
