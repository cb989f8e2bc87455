import { readDocuments } from "../../src/client/manifests/document.ts";
import type { ManifestFile } from "../../src/client/manifests/entry.ts";
import { formatHcl } from "../../src/client/manifests/hcl/format.ts";
import type { Fault } from "../../src/client/manifests/source.ts";
import { clientLimits } from "../../src/config/config.ts";
import { median } from "./median.ts";
import type { BenchRow } from "./row.ts";

const blocks = 1_000;
const rounds = 15;
const setup = {
  variables: { TAG: "1" },
  readAsset: () => new Uint8Array(),
  depthMax: clientLimits.manifestDepthMax,
  nodesMax: clientLimits.manifestNodesMax,
};

/** Reading of manifest files: the same 1,000 manifests in HCL, in YAML and as plain JSON. */
export async function run(): Promise<BenchRow[]> {
  const [hcl, yaml] = [file(repeated(hclBlock), "hcl"), file(repeated(yamlBlock), "yaml")];
  const manifests = read(hcl);
  if (JSON.stringify(manifests) !== JSON.stringify(read(yaml))) throw new Error("HCL and YAML say different things");
  const json = JSON.stringify(manifests);
  const formatted = formatHcl(hcl, setup.depthMax, []) ?? "";
  if (JSON.stringify(read(file(formatted, "hcl"))) !== json) throw new Error("fmt changes what the manifests say");
  const hclMs = timed(() => read(hcl));
  const yamlMs = timed(() => read(yaml));
  const jsonMs = timed(() => JSON.parse(json));
  const formatMs = timed(() => formatHcl(hcl, setup.depthMax, []));
  const row = (name: string, value: number, baseline: number): BenchRow => {
    return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted: "value <= 100" };
  };
  return [
    row("manifests: 1,000 blocks of HCL, against YAML", hclMs, yamlMs),
    row("manifests: 1,000 blocks of HCL, against JSON.parse", hclMs, jsonMs),
    row("manifests: fmt of 1,000 blocks, against reading", formatMs, hclMs),
  ];
}

function read(from: ManifestFile): unknown[] {
  const faults: Fault[] = [];
  const entries = readDocuments(from, setup, faults);
  if (entries.length !== blocks || faults.length > 0) throw new Error(`read ${entries.length}: ${faults[0]?.message}`);
  return entries.map(({ manifest }) => manifest);
}

function timed(work: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(times);
}

function file(text: string, format: "hcl" | "yaml"): ManifestFile {
  return { name: `x.${format}`, text, directory: "/", format };
}

function repeated(block: (index: number) => string): string {
  return Array.from({ length: blocks }, (_, index) => block(index)).join("");
}

const hclBlock = (index: number) => `# ${index}
app "shop" "web${index}" {
  image    = "ghcr.io/acme/web:\${TAG}"
  replicas = 2
  ports    = ["80"]
  host     = "web${index}.example.com"

  env = {
    MODE = "production"
    URL  = "http://api.shop:8080/v1"
  }
  probes {
    readiness {
      http_get {
        path = "/healthz"
        port = 80
      }
    }
  }
  resources {
    limits { memory = "512Mi" }
  }
}

`;

const yamlBlock = (index: number) => `# ${index}
kind: app
scope: shop
name: web${index}
spec:
  image: ghcr.io/acme/web:\${TAG}
  replicas: 2
  ports: ["80"]
  host: web${index}.example.com

  env:
    MODE: production
    URL: http://api.shop:8080/v1
  probes:
    readiness:
      http_get:
        path: /healthz
        port: 80
  resources:
    limits:
      memory: 512Mi
---
`;
