// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { exportKubernetes } from "../../../../../src/client/manifests/export/kubernetes/export.ts";
import type { CoreDraft } from "../../../../../src/orchestration/core/draft.ts";

const draft = (kind: CoreDraft["kind"], spec: object, name = "web"): CoreDraft => {
  return { kind, scope: kind === "registry" ? "" : "shop", name, spec: spec as Record<string, unknown> };
};

interface WithPod {
  spec: { template: { spec: { containers: object[] } } };
}

function documentsOf(...drafts: CoreDraft[]) {
  const { documents, losses } = exportKubernetes(drafts);
  const byKind = new Map((documents as { kind: string }[]).map((document) => [document.kind, document]));
  return { documents, byKind, losses: losses.map(({ path, message }) => `${path}: ${message}`) };
}

/** The pod of a deployment, and what is lost. */
function pod(spec: object) {
  const { byKind, losses } = documentsOf(draft("deployment", { image: "x", ports: ["80"], ...spec }));
  const deployment = byKind.get("Deployment") as unknown as WithPod;
  const { containers, ...rest } = deployment.spec.template.spec;
  return { main: containers[0], rest, losses, deployment };
}

describe("exportKubernetes", () => {
  test("a deployment with its namespace and service", () => {
    const { documents, losses } = documentsOf(draft("deployment", { image: "x:1", ports: ["80"], replicas: 3 }));
    const labels = { "app.kubernetes.io/name": "web", "app.kubernetes.io/part-of": "shop" };
    const metadata = { name: "web", namespace: "shop", labels };
    expect(documents).toEqual([
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata,
        spec: {
          replicas: 3,
          selector: { matchLabels: labels },
          strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          template: {
            metadata: { labels },
            spec: {
              containers: [{ name: "main", image: "x:1", imagePullPolicy: "IfNotPresent" }],
              restartPolicy: "Always",
              terminationGracePeriodSeconds: 10,
            },
          },
        },
      },
      {
        apiVersion: "v1",
        kind: "Service",
        metadata,
        spec: { selector: labels, ports: [{ name: "tcp-80", port: 80, targetPort: 80, protocol: "TCP" }] },
      },
    ]);
    expect(losses).toEqual([]);
  });

  test.each<[object, object]>([
    [
      { entrypoint: ["a"], command: ["b", "$(X)"] },
      { command: ["a"], args: ["b", "$$(X)"] },
    ],
    [
      { env: { A: "1", B: "$(C) $D" } },
      {
        env: [
          { name: "A", value: "1" },
          { name: "B", value: "$$(C) $D" },
        ],
      },
    ],
    [{ pull: "always" }, { imagePullPolicy: "Always" }],
    [
      { resources: { limits: { cpu: "500m", memory: "512K" } } },
      { resources: { limits: { cpu: "500m", memory: "512k" } } },
    ],
    [
      { cap_add: ["CAP_NET_ADMIN"], docker_options: ["--cap-drop=all"] },
      { securityContext: { capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] } } },
    ],
    [
      { docker_options: ["--user=1:2", "--workdir=/w"] },
      { workingDir: "/w", securityContext: { runAsUser: 1, runAsGroup: 2 } },
    ],
    [
      {
        probes: {
          readiness: {
            http_get: { path: "/h", port: 80, scheme: "https", http_headers: { A: "b" } },
            initial_delay: "5s",
            period: "1500ms",
            success_threshold: 2,
          },
        },
      },
      {
        readinessProbe: {
          httpGet: { path: "/h", port: 80, scheme: "HTTPS", httpHeaders: [{ name: "A", value: "b" }] },
          initialDelaySeconds: 5,
          periodSeconds: 2,
          timeoutSeconds: 1,
          failureThreshold: 3,
          successThreshold: 2,
        },
      },
    ],
    [
      { probes: { startup: { tcp_socket: { port: 1 } } } },
      { startupProbe: { tcpSocket: { port: 1 }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 } },
    ],
    [
      { probes: { liveness: { exec: { command: ["x"] } } } },
      { livenessProbe: { exec: { command: ["x"] }, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 } },
    ],
  ])("%j of a container", (spec, main) => {
    const outcome = pod(spec);
    expect(outcome.main).toMatchObject(main);
    expect(outcome.losses).toEqual([]);
  });

  test.each<[object, object]>([
    [{ stop_grace: "1m" }, { terminationGracePeriodSeconds: 60 }],
    [{ network_mode: "host" }, { hostNetwork: true }],
    [{ extra_hosts: ["a:1.2.3.4"] }, { hostAliases: [{ ip: "1.2.3.4", hostnames: ["a"] }] }],
    [
      { docker_options: ["--hostname=h", "--pid=host", "--group-add=5"] },
      { hostname: "h", hostPID: true, securityContext: { supplementalGroups: [5] } },
    ],
    [{ volume_owner: "5:6" }, { securityContext: { fsGroup: 6, fsGroupChangePolicy: "OnRootMismatch" } }],
    [
      { volume_owner: "5", docker_options: ["--group-add=7"] },
      { securityContext: { supplementalGroups: [7], fsGroup: 5 } },
    ],
    [{ docker_options: ["--tmpfs=/t"] }, { volumes: [{ name: "memory-0", emptyDir: { medium: "Memory" } }] }],
    [{ inits: [{ name: "a", command: ["b"] }] }, { initContainers: [{ name: "a", image: "x", args: ["b"] }] }],
  ])("%j of a pod", (spec, rest) => {
    const outcome = pod(spec);
    expect(outcome.rest).toMatchObject(rest);
    expect(outcome.losses).toEqual([]);
  });

  test("volumes: claims, folders of the node, files of assets", () => {
    const volumes = ["data:/d", "/srv:/s:ro", "${asset.shop.files.conf}:/c:ro", "${asset.other.files.conf}:/o:ro"];
    const { rest, main, losses, deployment } = pod({ volumes });
    expect(rest).toMatchObject({
      volumes: [
        { name: "volume-0", persistentVolumeClaim: { claimName: "data" } },
        { name: "volume-1", hostPath: { path: "/srv" } },
        { name: "volume-2", configMap: { name: "files" } },
      ],
    });
    expect(main).toMatchObject({
      volumeMounts: [
        { name: "volume-0", mountPath: "/d" },
        { name: "volume-1", mountPath: "/s", readOnly: true },
        { name: "volume-2", mountPath: "/c", readOnly: true, subPath: "conf" },
      ],
    });
    expect(deployment).toMatchObject({ spec: { strategy: { type: "Recreate" } } });
    expect(losses).toEqual([
      expect.stringMatching(/^deployment\/shop\/web: spec\.volumes\[0\]: becomes a claim of 1Gi/),
      expect.stringMatching(/volumes\[1\]: is a folder of the node/),
      expect.stringMatching(/volumes\[3\]: is an asset of another namespace/),
    ]);
  });

  test.each<[object, string]>([
    [{ build: {} }, "spec.build: is not done by Kubernetes: push the image to a registry as x"],
    [{ env: { A: "${asset.f.k}" } }, "spec.env.A: holds a reference that only berth resolves"],
    [{ env_from: ["api"] }, "spec.env_from: names config of other apps"],
    [{ restart: "no" }, 'spec.restart: "no" has no counterpart'],
    [{ rollout: { guard: { errors: "5%" } } }, "spec.rollout.guard: has no counterpart"],
    [{ ulimits: { nofile: "1" } }, "spec.ulimits: has no counterpart"],
    [{ docker_options: ["--init"] }, "spec.docker_options: init has no counterpart"],
    [{ docker_options: ["--user=me"] }, "spec.docker_options: --user=me: Kubernetes takes numbers only"],
    [{ ports: ["127.0.0.1:8080:80"] }, "spec.ports[0]: port 8080 of the server has no counterpart"],
    [{ ports: [] }, "spec.ports: no port is known"],
    [{ inits: [{ name: "a", command: ["b"], retries: 2 }] }, "spec.inits[0].retries: has no counterpart"],
  ])("%j is lost, and said", (spec, message) => {
    const { losses } = pod(spec);
    expect(losses).toHaveLength(1);
    expect(losses[0]).toStartWith(`deployment/shop/web: ${message}`);
  });

  test("a statefulset has a headless service, and claims of its own", () => {
    const claims = [
      { name: "data", mount_path: "/d", size: "10Gi" },
      { name: "b", mount_path: "/b", size: "big" },
    ];
    const { byKind, losses } = documentsOf(
      draft("statefulset", { image: "pg", ports: ["5432"], volume_claims: claims }, "db"),
    );
    expect(byKind.get("StatefulSet")).toMatchObject({
      spec: {
        serviceName: "db",
        template: {
          spec: {
            containers: [
              {
                volumeMounts: [
                  { name: "data", mountPath: "/d" },
                  { name: "b", mountPath: "/b" },
                ],
              },
            ],
          },
        },
        volumeClaimTemplates: [
          { metadata: { name: "data" }, spec: { resources: { requests: { storage: "10Gi" } } } },
          { metadata: { name: "b" }, spec: { resources: { requests: { storage: "1Gi" } } } },
        ],
      },
    });
    expect(byKind.get("Service")).toMatchObject({ metadata: { name: "db" }, spec: { clusterIP: "None" } });
    expect(losses.join("\n")).toContain("volume_claims[1].size: is no size there: it becomes 1Gi");
  });

  test("an ingress leads to the first port of its service", () => {
    const web = draft("deployment", { image: "x", ports: ["8000", "9000"] });
    const ingress = draft("ingress", { hosts: ["a.test", "*"], locations: [{ path: "/x" }], tls: {}, compress: true });
    const { byKind, losses } = documentsOf(web, ingress);
    const backend = { service: { name: "web", port: { number: 8000 } } };
    const http = { paths: [{ path: "/x", pathType: "Prefix", backend }] };
    expect(byKind.get("Ingress")).toMatchObject({
      spec: { rules: [{ host: "a.test", http }, { http }], tls: [{ hosts: ["a.test"], secretName: "web-tls" }] },
    });
    expect(losses).toEqual([
      "ingress/shop/web: spec.compress: has no counterpart",
      expect.stringMatching(/spec\.tls: the certificate is expected in the Secret "web-tls"/),
    ]);
    expect(documentsOf(draft("ingress", { host: "a.test", service: "@identity" })).byKind.has("Ingress")).toBe(false);
  });

  test("jobs, cron jobs, autoscaling, files and registries", () => {
    const job = documentsOf(draft("job", { image: "x", backoff_limit: 2, timeout: "1h" }));
    expect(job.byKind.get("Job")).toMatchObject({
      spec: {
        suspend: true,
        backoffLimit: 2,
        activeDeadlineSeconds: 3600,
        template: { spec: { restartPolicy: "Never" } },
      },
    });
    const cron = documentsOf(draft("cronjob", { schedule: "@daily", timezone: "Europe/Berlin", job: { image: "x" } }));
    expect(cron.byKind.get("CronJob")).toMatchObject({
      spec: { schedule: "@daily", timeZone: "Europe/Berlin", concurrencyPolicy: "Allow", startingDeadlineSeconds: 100 },
    });
    expect(cron.losses).toEqual([]);
    const scaled = documentsOf(draft("deployment", { image: "x", autoscale: { min: 1, max: 5, cpu_target: 70 } }));
    expect(scaled.byKind.get("HorizontalPodAutoscaler")).toMatchObject({ spec: { minReplicas: 1, maxReplicas: 5 } });
    expect(scaled.byKind.get("Deployment")).not.toHaveProperty("spec.replicas");
    const content = Buffer.from([0xff]).toString("base64");
    const files = {
      a: "text",
      b: { _source: "file", content: "aGk=" },
      c: { _source: "file", content },
      d: { _source: "url", url: "https://x" },
    };
    const program = documentsOf(draft("asset", { files: { a: "x" }, modes: { a: "0755" } }));
    expect(program.losses).toEqual([expect.stringMatching(/spec\.modes\.a: set "mode: 0755" for it/)]);
    const asset = documentsOf(draft("asset", { files }));
    expect(asset.byKind.get("ConfigMap")).toMatchObject({ data: { a: "text", b: "hi" }, binaryData: { c: content } });
    expect(asset.losses).toEqual(["asset/shop/web: spec.files.d: is fetched by berth: write its content"]);
    expect(documentsOf(draft("registry", { url: "r", token: "********" })).byKind.has("Secret")).toBe(false);
    expect(documentsOf(draft("registry", { url: "r", token: "t" })).byKind.get("Secret")).toMatchObject({
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": '{"auths":{"r":{"username":"","password":"t"}}}' },
    });
  });

  test("the main container has a name of its own beside an init", () => {
    const { main, rest } = pod({ inits: [{ name: "main", command: ["a"] }] });
    expect([main, rest]).toMatchObject([{ name: "main-container" }, { initContainers: [{ name: "main" }] }]);
  });

  test("names that Kubernetes does not take", () => {
    const { byKind, losses } = documentsOf(draft("deployment", { image: "x", ports: ["80"] }, "1_web.x"));
    expect(byKind.get("Deployment")).toMatchObject({ metadata: { name: "1-web-x" } });
    expect(byKind.get("Service")).toMatchObject({ metadata: { name: "app-1-web-x" } });
    expect(losses).toEqual(['deployment/shop/1_web.x: name: its Service is called "app-1-web-x"']);
  });
});
