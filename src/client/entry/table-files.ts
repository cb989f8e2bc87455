import type { Verb } from "../shell/command.ts";

/** Verbs that work on manifest files, most of them without a server. */
export const fileVerbs: readonly Verb[] = [
  {
    name: "rehearse",
    summary: "try a change on copies of the apps and of their data, and change nothing",
    load: async () => (await import("../commands/backup/drill.ts")).rehearseCommand,
  },
  {
    name: "validate",
    summary: "check manifest files without a server",
    load: async () => (await import("../commands/validate.ts")).validateCommand,
  },
  {
    name: "fmt",
    summary: "bring HCL manifest files into the one style",
    load: async () => (await import("../commands/fmt.ts")).fmtCommand,
  },
  {
    name: "convert",
    summary: "print manifests in another language: HCL or YAML",
    load: async () => (await import("../commands/convert.ts")).convertCommand,
  },
  {
    name: "import",
    summary: "print manifests for a Compose file, a docker run, a Kamal file",
    load: async () => (await import("../commands/import.ts")).importCommand,
  },
  {
    name: "export",
    summary: "print stored manifests for Docker Compose or Kubernetes",
    load: async () => (await import("../commands/export.ts")).exportCommand,
  },
  {
    name: "schema",
    summary: "print a JSON Schema of manifests for an editor",
    load: async () => (await import("../commands/schema.ts")).schemaCommand,
  },
];
