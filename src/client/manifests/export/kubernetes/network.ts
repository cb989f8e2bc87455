import type { Service } from "kubernetes-types/core/v1";
import type { HTTPIngressPath, Ingress } from "kubernetes-types/networking/v1";
import { anyHost, hostsOf } from "../../../../base/pure/hosts.ts";
import { fieldsOf, integerOf, listOf, textOf, wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import { parsePort, portTexts } from "../../../../orchestration/core/ports.ts";
import { type Exportable, loseOthers } from "../exportable.ts";
import { label, labelsOf, metadataOf, serviceName } from "./names.ts";

interface ContainerPort {
  port: number;
  protocol: "TCP" | "UDP" | "SCTP";
}

/** Ports of a container that its manifest or an ingress names. */
export function portsOf(from: Exportable, ingresses: readonly Exportable[]): ContainerPort[] {
  const written = wordsOf(from.spec.ports).flatMap((entry, index) =>
    portTexts(entry).flatMap((text): ContainerPort[] => {
      const port = parsePort(text);
      if (!port.ok) return [];
      const { hostPort, containerPort, protocol } = port.value;
      if (hostPort !== undefined) {
        from.lose(
          `spec.ports[${index}]`,
          `port ${hostPort} of the server has no counterpart: make the Service a LoadBalancer`,
        );
      }
      return [{ port: containerPort, protocol: protocol.toUpperCase() as ContainerPort["protocol"] }];
    }),
  );
  const probed = Object.values(fieldsOf(from.spec.probes)).flatMap((probe) => {
    const { http_get: http, tcp_socket: tcp } = fieldsOf(probe);
    return [integerOf(fieldsOf(http).port), integerOf(fieldsOf(tcp).port)];
  });
  const routed = ingresses
    .filter((ingress) => ingress.scope === from.scope && serviceOf(ingress) === from.name)
    .map((ingress) => integerOf(ingress.spec.port) ?? (written[0]?.port || 80));
  const all = [...written];
  for (const port of [...probed, ...routed]) {
    if (port !== undefined && !all.some((one) => one.port === port)) all.push({ port, protocol: "TCP" });
  }
  return all.filter(
    (one, index) => all.findIndex((two) => two.port === one.port && two.protocol === one.protocol) === index,
  );
}

/** The name that an app is reached by: the same NAME.SCOPE as here. */
export function serviceFor(from: Exportable, ports: readonly ContainerPort[], headless: boolean): Service[] {
  if (ports.length === 0) {
    from.lose("spec.ports", "no port is known, and a Service needs one: others do not reach it by name");
    return [];
  }
  const name = serviceName(from.name);
  if (name !== from.name) from.lose("name", `its Service is called "${name}"`);
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: metadataOf(from, name),
      spec: {
        ...(headless ? { clusterIP: "None" } : {}),
        selector: labelsOf(from.scope, from.name),
        ports: ports.map(({ port, protocol }) => ({
          name: `${protocol.toLowerCase()}-${port}`,
          port,
          targetPort: port,
          protocol,
        })),
      },
    },
  ];
}

function serviceOf({ name, spec }: Exportable): string {
  return textOf(spec.service) ?? name;
}

const advice: Record<string, string> = {
  tcp: "has no counterpart: make the Service a LoadBalancer",
};

/** The ingress; `portOf` knows the first port of the service. Nothing for one that leads to a part of berth. */
export function ingressOf(from: Exportable, portOf: (service: string) => number | undefined): Ingress[] {
  const { spec, lose } = from;
  loseOthers(from, spec, {
    path: "spec",
    read: ["host", "hosts", "locations", "service", "port", "tls"],
    advice,
  });
  const service = serviceOf(from);
  if (service.startsWith("@")) lose("spec.service", `${service} is a part of berth: left out`);
  const hosts = hostsOf(spec);
  if (service.startsWith("@") || hosts.length === 0) return [];
  const number = integerOf(spec.port) ?? portOf(service) ?? 80;
  const backend = { service: { name: serviceName(service), port: { number } } };
  const locations = listOf(spec.locations);
  locations.forEach((location, index) => {
    if (location.strip === true)
      lose(`spec.locations[${index}].strip`, "has no counterpart: see the annotations of your controller");
  });
  const prefixes = locations.length === 0 ? ["/"] : locations.map((location) => textOf(location.path) ?? "/");
  const paths = prefixes.map((path): HTTPIngressPath => ({ path, pathType: "Prefix", backend }));
  const tls = fieldsOf(spec.tls);
  const secure = spec.tls !== undefined && tls.enabled !== false;
  if (secure) {
    lose(
      "spec.tls",
      `the certificate is expected in the Secret "${label(from.name)}-tls": an issuer such as cert-manager writes it`,
    );
  }
  return [
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: metadataOf(from),
      spec: {
        rules: hosts.map((host) => ({ ...(host === anyHost ? {} : { host }), http: { paths } })),
        ...(secure
          ? { tls: [{ hosts: hosts.filter((host) => host !== anyHost), secretName: `${label(from.name)}-tls` }] }
          : {}),
      },
    },
  ];
}
