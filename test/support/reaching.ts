import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { cronjob, deployment, fixtureImage, statefulset } from "./manifests.ts";

const job = (spec: object): Manifest => ({
  kind: "job",
  scope: "shop",
  name: "tidy",
  spec: { image: fixtureImage, ...spec },
});

const ingress = (spec: object, host = "a.example"): Manifest => ({
  kind: "ingress",
  scope: "shop",
  name: "web",
  spec: { host, ...spec },
});

/** One manifest for each way to reach the machine. */
export const reachingManifests: [string, Manifest][] = [
  ["a folder of the machine", deployment("shop", "web", { volumes: ["/:/host"] })],
  ["the network of the machine", deployment("shop", "web", { network_mode: "host" })],
  ["a capability", deployment("shop", "web", { cap_add: ["SYS_ADMIN"] })],
  ["an option of the engine", deployment("shop", "web", { docker_options: ["--privileged"] })],
  ["a folder of the machine in a job", job({ volumes: ["/etc:/host"] })],
  ["an app that becomes such a deployment", { ...deployment("shop", "web", { volumes: ["/:/host"] }), kind: "app" }],
  [
    "the same option in two entries",
    deployment("shop", "web", { env: { docker_options: "host" }, docker_options: ["--pid", "host"] }),
  ],
  ["a port of the machine", deployment("shop", "web", { ports: ["8080:80"] })],
  ["a port on all addresses", deployment("shop", "web", { ports: ["0.0.0.0::80"] })],
  ["a line for the shell of the machine", deployment("shop", "web", { post_deploy: ["id"] })],
  [
    "an option of the engine in an init",
    deployment("shop", "web", { inits: [{ name: "a", command: ["true"], docker_options: ["--privileged"] }] }),
  ],
  ["a cron job with a capability", cronjob("shop", "tidy", {}, { cap_add: ["SYS_ADMIN"] })],
  ["a statefulset with the network of the machine", statefulset("shop", "db", { network_mode: "host" })],
  ["a volume of the engine", deployment("shop", "web", { volumes: ["other_data:/data:external"] })],
  ["a registry", { kind: "registry", name: "hub", spec: { url: "127.0.0.1:5000", username: "a", token: "b" } }],
  ["the routes of a plugin", ingress({ plugin: "edge" })],
  ["a part of the server", ingress({ service: "@observability" })],
  ["a port for TCP", { kind: "ingress", scope: "shop", name: "web", spec: { tcp: { port: 2222 } } }],
  ["a certificate from a file", ingress({ tls: { provider: "file", certificate: "/etc/shadow", key: "/etc/shadow" } })],
  ["a CA of one's own", ingress({ tls: { provider: "acme", directory: "https://10.0.0.1/dir" } })],
  ["a question about certificates", ingress({ tls: { on_demand: true, ask: "http://127.0.0.1:2375/" } }, "*")],
  ["a DNS plugin", ingress({ tls: { dns: "cloud" } })],
  [
    "a file that the server would fetch",
    {
      kind: "asset",
      scope: "shop",
      name: "page",
      spec: { files: { a: { _source: "url", url: "http://127.0.0.1/config" } } },
    },
  ],
];
