module an.application {
    requires io.conclave.api;
    requires io.conclave.locks;
    requires io.conclave.testcontainers;
    requires testcontainers;
}
