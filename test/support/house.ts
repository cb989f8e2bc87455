/** The floor table of docs/architecture.md section 3 as data, and who may use what. */

/** Folder of src/ → folders of ours that it may import, its own aside. `*` is everything. */
export const mayImport: Record<string, readonly string[] | "*"> = {
  lib: [],
  api: [],
  core: ["api"],
  store: ["lib", "api", "core"],
  runtime: ["lib", "api", "core"],
  plugin: ["lib", "api", "core"],
  ingress: ["lib", "api", "core"],
  deliver: ["lib", "api", "core"],
  disk: ["lib", "api", "core"],
  machine: ["lib", "api", "core"],
  controller: ["lib", "api", "core", "store", "runtime", "plugin", "ingress", "deliver", "disk"],
  observe: ["lib", "api", "core", "store", "runtime", "plugin", "ingress", "deliver", "disk"],
  identity: ["lib", "api", "core", "store", "runtime", "plugin", "ingress", "deliver", "disk"],
  http: ["lib", "api", "core", "controller", "observe", "identity"],
  ui: ["api"],
  cli: ["lib", "api", "core"],
  local: "*",
  /** Files of src/ itself: daemon, main, client, config. */
  "": "*",
};

/** A file of src/ that anyone may import: it imports nothing of ours. */
export const leaves = ["src/version.ts"];

/** Files that may know the plugins that are part of the executable: what starts them, and what tells the server of them. */
export const startsBundled = ["src/main.ts", "src/daemon-plugins.ts"];

/** Package → path prefixes where it may be imported. A package without a row may be imported nowhere. */
export const packageHomes: Record<string, readonly string[]> = {
  "@sinclair/typebox": ["src/api/", "src/core/", "src/http/"],
  "bun:sqlite": ["src/store/"],
  dockerode: ["src/runtime/docker/"],
  elysia: ["src/http/"],
  "@elysiajs/openapi": ["src/http/"],
  arctic: ["src/identity/service/providers.ts"],
  nodemailer: ["src/base/deliver/mail.ts"],
  yaml: ["src/cli/", "src/orchestration/plugins/yaml.ts"],
  preact: ["src/ui/"],
  "@preact/signals": ["src/ui/"],
  uplot: ["src/ui/"],
  "@xterm/xterm": ["src/ui/"],
};

/** The last is the file of a unix socket, which is cleared away before it is listened on. */
const files = [
  "src/disk/",
  "src/plugin/",
  "src/store/",
  "src/machine/",
  "src/runtime/docker/",
  "src/local/",
  "src/cli/",
  "src/base/http/front/address.ts",
];
/** `local-run.ts` is for commands of plugins that belong on the operator's own terminal. */
const children = [
  "src/plugin/",
  "src/ingress/",
  "src/cli/tunnel.ts",
  "src/client/shell/raw-terminal.ts",
  "src/client/session/local-run.ts",
  "src/local/",
];

/** `plugin-fake-controller.ts` answers plugins that call back while their author tests them. */
const listeners = ["src/http/", "src/ingress/embedded/", "src/local/plugin-fake-controller.ts"];

/** The same for Node's own modules; those without a row are free on floor 2 and above. */
export const builtinHomes: Record<string, readonly string[]> = {
  "node:fs": files,
  "node:fs/promises": files,
  "node:child_process": [],
  "node:http": [],
  "node:https": [],
};

/** Floors 0 and 1 import no module of Node but these. */
export const pureBuiltins: Record<string, readonly string[]> = {
  "node:crypto": ["src/base/pure/digest.ts", "src/base/words/secret.ts"],
};

/** Calls of the platform → path prefixes where they may stand. */
export const callHomes: { name: string; call: RegExp; homes: readonly string[] }[] = [
  { name: "child processes", call: /\bBun\s*\.\s*(?:spawn|spawnSync|\$)/, homes: children },
  { name: "threads", call: /\bnew\s+Worker\b/, homes: ["src/identity/service/search-worker.ts"] },
  { name: "listening sockets", call: /\bBun\s*\.\s*(?:listen|serve)\b/, homes: listeners },
  { name: "files", call: /\bBun\s*\.\s*(?:file|write)\b/, homes: files },
  {
    name: "the environment",
    call: /\bprocess\s*\.\s*env\b|\bBun\s*\.\s*env\b|\bimport\s*\.\s*meta\s*\.\s*env\b/,
    homes: ["src/config/config.ts"],
  },
];

/** What the pure heart does without. */
export const impure: { name: string; use: RegExp }[] = [
  { name: "a clock", use: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bperformance\s*\./ },
  { name: "random numbers", use: /\bMath\s*\.\s*random\b|\bcrypto\s*\.|\bgetRandomValues\b/ },
  { name: "asynchrony", use: /\basync\b|\bawait\b|\bPromise\b|\bset(?:Timeout|Interval|Immediate)\b/ },
  { name: "input or output", use: /\bfetch\s*\(|\bconsole\s*\.|\bprocess\s*\./ },
];

export const linesMax = 299;
