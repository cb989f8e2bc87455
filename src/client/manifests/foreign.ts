import { basename } from "node:path";

interface Foreign {
  /** Pattern of the name of the file. */
  name?: RegExp;
  /** All of them are in the text. */
  texts?: readonly RegExp[];
  /** What it is, and the way from there to manifests. */
  says: (file: string) => string;
}

const initHint = "berth init writes the manifest of the program beside it";

const kubernetesHint = "write its pods as deployments, jobs and ingresses; berth explain lists their fields";

/** Files of other tools, and in languages that no manifest has, the more special first. */
const foreign: readonly Foreign[] = [
  {
    name: /^fly(?:\.[\w-]+)?\.toml$/,
    says: () => `this is a file of Fly.io: ${initHint}, and berth config sets its secrets`,
  },
  {
    name: /^(?:Docker|Container)file(?:\.[\w-]+)?$|^[\w-]+\.Dockerfile$/,
    texts: [/^FROM[ \t]+\S/im],
    says: () => "this is a Dockerfile: berth up builds and runs the program beside it",
  },
  {
    name: /^Procfile(?:\.\w+)?$/,
    says: () => `this is a Procfile: ${initHint}, with a process for each line`,
  },
  {
    name: /^Chart\.ya?ml$/,
    texts: [/^apiVersion:\s*v[12]\s*$/m],
    says: () => `this is a Helm chart: render it with helm template, and ${kubernetesHint}`,
  },
  {
    name: /^kustomization\.ya?ml$/,
    says: () => `this is a kustomization of Kubernetes: render it with kubectl kustomize, and ${kubernetesHint}`,
  },
  {
    texts: [/^services:[ \t]*\r?\n\s*-[ \t]+(?:type|name|runtime|env|plan):/m],
    says: () => `this is a blueprint of Render: ${initHint}, and berth config sets its variables`,
  },
  {
    texts: [/^service:\s*\S/m, /^image:\s*\S/m, /^(?:servers|proxy|registry|builder|accessories):/m],
    says: (file) => `this is a file of Kamal: berth import kamal ${file} > app.yaml`,
  },
  {
    texts: [/^[ "]*apiVersion"?:\s*\S/m, /^[ "]*kind"?:\s*\S/m],
    says: () => `this is a manifest of Kubernetes: ${kubernetesHint}`,
  },
  {
    texts: [/^job\s+"[^"]*"\s*\{/m, /^[ \t]*(?:datacenters[ \t]*=|group[ \t]+"|task[ \t]+")/m],
    says: () => "this is a job of Nomad: write its tasks as deployments and jobs; berth explain lists their fields",
  },
  {
    name: /\.(?:toml|ini|xml|md|sh|js|ts)$/,
    says: (file) => `a manifest is YAML, JSON or HCL, not a file like ${basename(file)}; berth init writes a first one`,
  },
  {
    texts: [/^(?:services|include):\s*(?:#.*)?$/m],
    says: (file) => `this is a Compose file: berth import compose ${file} > app.yaml`,
  },
];

/** One sentence for a file of another tool that was given as a manifest; undefined for any other file. */
export function foreignFile({ name, text }: { name: string; text: string }): string | undefined {
  const isOwn = /^[ \t]*(?:- )?kind:/m.test(text) && !/^[ "]*apiVersion"?:/m.test(text);
  const found = foreign.find(({ name: pattern, texts }) => {
    if (pattern?.test(basename(name)) === false) return false;
    if (pattern !== undefined && texts === undefined) return true;
    return !isOwn && texts?.every((one) => one.test(text)) === true;
  });
  return found?.says(name === "stdin" ? "-" : name);
}
