module an.application {
    requires com.fasterxml.jackson.databind;
    requires io.conclave.api;
    requires io.conclave.config;
    requires io.conclave.discovery;
    requires io.conclave.election;
    requires io.conclave.jackson;
    requires io.conclave.locks;
    requires io.conclave.micrometer;
    requires io.conclave.server.testing;
    requires io.conclave.shedlock;
    requires io.conclave.spring.boot;
    requires io.conclave.spring.cloud;
    requires io.conclave.spring.integration;
    requires micrometer.core;
    requires micrometer.observation;
    requires net.javacrumbs.shedlock.core;
    requires org.apache.tomcat.embed.core; // for the web server
    requires spring.boot;
    requires spring.boot.autoconfigure;
    requires spring.cloud.commons;
    requires spring.context;
    requires spring.integration.core;

    opens application; // to Spring
}
