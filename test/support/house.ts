/** The layers of docs/architecture.md section 3: what each may import, and who may use what. */

/** What every layer of every service may use. */
const words = ["base/pure", "base/words", "base/wire"];

/** What the layers may use that know no clock, no log and no queue. */
const pure = ["base/pure", "base/wire"];

/** Layer → layers that it may import, its own aside. `*` is everything. A layer that is not listed may not exist. */
export const mayImport: Record<string, readonly string[] | "*"> = {
  "base/pure": [],
  "base/words": ["base/pure"],
  "base/wire": ["base/pure"],
  "base/sqlite": words,
  "base/disk": words,
  "base/deliver": words,
  "base/machine": words,
  "base/http": [...words, "base/machine", "access"],

  /** Who asks, and what that may: pure. */
  access: [...pure, "orchestration/api", "orchestration/core"],

  "orchestration/api": [...pure, "backups/api", "identity/api", "ingress/api", "observability/api"],
  "orchestration/core": [...pure, "backups/api", "orchestration/api"],
  "orchestration/store": [...words, "base/sqlite", "orchestration/api", "orchestration/core"],
  "orchestration/engine": [...words, "base/machine", "orchestration/api", "orchestration/core"],
  "orchestration/plugins": [...words, "orchestration/api", "orchestration/core"],
  "orchestration/controller": [
    ...words,
    "base/disk",
    "base/deliver",
    "orchestration/api",
    "orchestration/core",
    "orchestration/store",
    "orchestration/engine",
    "orchestration/plugins",
    "access",
  ],
  "orchestration/http": [
    ...words,
    "base/http",
    "orchestration/api",
    "orchestration/core",
    "orchestration/controller",
    "access",
    "identity/api",
  ],

  "identity/api": pure,
  "identity/core": [...pure, "identity/api"],
  "identity/store": [...words, "base/sqlite", "identity/api", "identity/core"],
  "identity/service": [...words, "base/disk", "base/deliver", "identity/api", "identity/core", "identity/store"],
  "identity/http": [...words, "base/http", "identity/api", "identity/core", "identity/service"],

  "ingress/api": [...pure, "orchestration/api"],
  "ingress/core": [...pure, "ingress/api", "orchestration/api"],
  "ingress/proxy": [...words, "base/disk", "base/machine", "ingress/api", "ingress/core"],
  "ingress/certs": [...words, "base/disk", "base/deliver", "base/sqlite", "ingress/api", "ingress/core"],
  "ingress/service": [
    ...words,
    "base/disk",
    "ingress/api",
    "ingress/core",
    "ingress/proxy",
    "ingress/certs",
    "orchestration/api",
  ],
  "ingress/http": [...words, "access", "base/http", "ingress/api", "ingress/core", "ingress/service"],

  "backups/api": pure,
  "backups/core": [...pure, "backups/api"],
  "backups/restic": [...words, "backups/core"],
  "backups/service": [...words, "base/deliver", "backups/api", "backups/core", "backups/restic"],
  "backups/http": [...words, "access", "base/http", "backups/api", "backups/service"],

  "observability/api": [...pure, "orchestration/api", "identity/api", "ingress/api", "backups/api"],
  "observability/core": [...pure, "access", "observability/api", "orchestration/api", "ingress/api"],
  "observability/store": [...words, "base/sqlite", "observability/api", "observability/core"],
  "observability/collect": [
    ...words,
    "base/disk",
    "base/machine",
    "observability/api",
    "observability/core",
    "orchestration/api",
    "ingress/api",
  ],
  "observability/service": [
    ...words,
    "base/disk",
    "base/deliver",
    "observability/api",
    "observability/core",
    "observability/store",
    "observability/collect",
    "access",
    "orchestration/api",
    "identity/api",
    "ingress/api",
    "backups/api",
  ],
  "observability/http": [
    ...words,
    "access",
    "base/http",
    "observability/api",
    "observability/core",
    "observability/service",
    "orchestration/api",
    "identity/api",
    "ingress/api",
  ],

  /** Browser code: it knows the server only by the `api/` folders. */
  ui: [...pure, "observability/api", "orchestration/api", "identity/api", "ingress/api", "backups/api"],

  client: [
    ...words,
    "orchestration/api",
    "orchestration/core",
    "identity/api",
    "identity/core",
    "ingress/api",
    "observability/api",
    "backups/api",
  ],
  /** What the contract's own client says and reads differently, translated at the doors. */
  compat: [...words, "base/http", "orchestration/api", "orchestration/core"],
  config: "*",
  local: "*",
  /** Puts the services together. */
  daemon: "*",
  /** Files of src/ itself: main, client. */
  "": "*",
};

/** Layer → its rooms in order: a room imports only rooms before it. All other layers have no two rooms that reach each other. */
export const roomOrder: Record<string, readonly string[]> = {
  "src/client": [
    ...["basics", "domains", "env", "facts", "manifests", "preview", "remote", "shell", "completion", "text"],
    ...["build", "init", "wait", "session", "copy", "forward", "commands", "entry"],
  ],
  "src/orchestration/controller": [
    ...["state", "desired", "pods", "rollout", "runs", "reconcile", "write", "plugins", "builds", "views"],
  ],
  "src/ui": ["text", "browser", "data", "parts", "frame", "screens"],
};

/** Folders of src/ that are one layer as a whole; the layers of the others are their folders. */
export const wholeFolders = ["access", "client", "compat", "config", "daemon", "local", "ui"];

/** A file of src/ that anyone may import: it imports nothing of ours. */
export const leaves = ["src/version.ts", "src/threads.ts"];

/** Files that may know the plugins that are part of the executable: what starts them, and what tells the server of them. */
export const startsBundled = ["src/main.ts", "src/daemon/plugins.ts"];

/** The engine seam, which is types only: all that the rest of the house may know of the engine. */
export const engineSeam = ["engine", "pod", "session", "machine", "helper"].map(
  (name) => `src/orchestration/engine/${name}.ts`,
);

/** The room that puts the engine together, and from what. */
export const makesEngine = {
  by: "src/daemon/",
  from: ["local-helper", "docker/docker"].map((name) => `src/orchestration/engine/${name}.ts`),
};

/** Package → path prefixes where it may be imported. A package without a row may be imported nowhere. */
export const packageHomes: Record<string, readonly string[]> = {
  "@peculiar/x509": ["src/ingress/certs/authority.ts"],
  "@xterm/xterm": ["src/ui/parts/terminal/"],
  "@xterm/addon-fit": ["src/ui/parts/terminal/"],
  "@balena/dockerignore": ["src/client/build/ignore-files.ts"],
  "acme-client": ["src/ingress/certs/acme/"],
  ignore: ["src/base/pure/git-rules.ts"],
  /** Types alone: the compiler checks what is written for Kubernetes. */
  "kubernetes-types": ["src/client/manifests/export/kubernetes/"],
  "tar-stream": [
    "src/base/disk/timed-archive.ts",
    "src/base/disk/source-archive.ts",
    "src/client/build/pack.ts",
    "src/client/copy/",
    "src/observability/service/files/archive.ts",
    "src/local/source/unpack.ts",
    "src/orchestration/engine/docker/file-owner.ts",
    "src/orchestration/plugins/untar.ts",
  ],
  "@sinclair/typebox": [
    "src/compat/",
    "src/base/wire/",
    "src/base/http/",
    "src/orchestration/api/",
    "src/orchestration/core/",
    "src/orchestration/http/",
    "src/identity/api/",
    "src/identity/core/",
    "src/identity/http/",
    "src/ingress/api/",
    "src/observability/api/",
    "src/observability/core/",
    "src/observability/http/",
    "src/backups/api/",
  ],
  "bun:ffi": ["src/base/machine/socket-diag.ts", "src/base/machine/own-code.ts", "src/backups/restic/folders.ts"],
  "bun:jsc": ["src/local/open-handles.ts"],
  "bun:sqlite": ["src/base/sqlite/", "src/orchestration/store/", "src/identity/store/", "src/observability/store/"],
  dockerode: ["src/orchestration/engine/docker/"],
  elysia: ["src/base/http/", "src/orchestration/http/", "src/identity/http/", "src/observability/http/"],
  "@elysiajs/jwt": ["src/observability/http/session-cookie.ts"],
  arctic: ["src/identity/service/providers.ts"],
  preact: ["src/ui/"],
  "@preact/signals": ["src/ui/"],
  uplot: ["src/ui/"],
  nodemailer: ["src/base/deliver/mail.ts"],
  yaml: ["src/client/", "src/ui/text/manifest-text.ts", "src/orchestration/plugins/yaml.ts"],
};

/** The last is the file of a unix socket, which is cleared away before it is listened on. */
const files = [
  "src/base/disk/",
  "src/orchestration/plugins/",
  "src/base/sqlite/",
  "src/orchestration/store/",
  "src/identity/store/",
  "src/observability/store/",
  "src/observability/collect/",
  "src/base/machine/",
  "src/orchestration/engine/docker/",
  "src/local/",
  "src/client/",
  "src/backups/restic/",
  "src/base/http/front/address.ts",
  "src/ingress/proxy/",
];
/** `local-run.ts` is for commands of plugins that belong on the operator's own terminal. */
const children = [
  "src/orchestration/plugins/",
  "src/ingress/proxy/",
  "src/client/basics/raw-terminal.ts",
  "src/client/basics/local-run.ts",
  "src/client/remote/ssh.ts",
  "src/local/",
  "src/backups/restic/",
];

/**
 * `plugin-fake-controller.ts` answers plugins that call back while their author tests them. `port-holder.ts` tries for a
 * moment whether a port is free. `inside-network.ts` passes one request on to the network of a drill. `parked.ts` says why a
 * server that was moved to another machine does not act.
 */
const listeners = [
  "src/base/machine/port-holder.ts",
  "src/base/http/",
  "src/orchestration/http/",
  "src/identity/http/",
  "src/observability/http/",
  "src/ingress/proxy/ports.ts",
  "src/client/forward/listener.ts",
  "src/ingress/proxy/door.ts",
  "src/local/plugin-fake-controller.ts",
  "src/local/inside-network.ts",
  "src/local/parked.ts",
  "src/local/names/serve.ts",
];

/** Beside `deliver`: the engine, the own pods, the own sockets, and what runs for the operator. */
const connectors = [
  "src/base/deliver/",
  "src/orchestration/engine/",
  "src/orchestration/controller/state/knock.ts",
  "src/base/http/front/address.ts",
  "src/client/",
  "src/local/",
];

/** The same for Node's own modules; those without a row are free on floor 2 and above. */
export const builtinHomes: Record<string, readonly string[]> = {
  "node:fs": files,
  "node:fs/promises": files,
  "node:child_process": [],
  "node:http": ["src/orchestration/engine/docker/client.ts"],
  "node:http2": ["src/orchestration/engine/docker/buildkit/session.ts"],
  "node:https": [],
};

/** Floors 0 and 1 import no module of Node but these. */
export const pureBuiltins: Record<string, readonly string[]> = {
  "node:crypto": ["src/base/words/secret.ts"],
};

/** They compare what they write with what is there; the last answers a command with it. */
const statusReaders = ["runs/job-status.ts", "state/notes.ts", "rollout/save-status.ts", "rollout/rollout-view.ts"].map(
  (path) => `src/orchestration/controller/${path}`,
);

/** Calls → path prefixes where they may stand. */
export const callHomes: { name: string; call: RegExp; homes: readonly string[] }[] = [
  { name: "child processes", call: /\bBun\s*\.\s*(?:spawn|spawnSync|\$)/, homes: children },
  {
    name: "threads",
    call: /\bnew\s+Worker\b/,
    homes: ["src/base/words/thread.ts"],
  },
  { name: "listening sockets", call: /\bBun\s*\.\s*(?:listen|serve)\b/, homes: listeners },
  {
    name: "outgoing connections; what a manifest names is connected to by base/deliver, which checks the address",
    call: /\bBun\s*\.\s*connect\b/,
    homes: connectors,
  },
  {
    // It looks names up again, follows redirects, and sends everything to the proxy of the environment. A bare `fetch` is
    // forbidden by biome.json, which knows a parameter of this name from the platform's function.
    name: "the platform's own fetch",
    call: /\b(?:globalThis|Bun)\s*\.\s*fetch\b|\bnew\s+WebSocket\b/,
    homes: ["src/base/wire/outgoing.ts", "src/ui/"],
  },
  {
    name: "requests that may go through the proxy of the environment: services get them already guarded",
    call: /\b(?:createOutside|createPinned|through)\s*\(/,
    homes: ["src/base/wire/outgoing.ts", "src/base/deliver/pinned.ts", "src/daemon/", "src/local/server/release.ts"],
  },
  { name: "storage of S3", call: /\bBun\s*\.\s*(?:S3Client|s3)\b/, homes: ["src/base/deliver/object-storage.ts"] },
  {
    name: "datagram sockets",
    call: /\bBun\s*\.\s*udpSocket\b/,
    homes: ["src/ingress/proxy/receiver.ts", "src/local/names/"],
  },
  { name: "files", call: /\bBun\s*\.\s*(?:file|write)\b/, homes: files },
  {
    name: "the environment",
    call: /\bprocess\s*\.\s*env\b|\bBun\s*\.\s*env\b|\bimport\s*\.\s*meta\s*\.\s*env\b/,
    homes: ["src/config/config.ts", "src/config/allocator.ts"],
  },
  {
    name: "a status as it was written, which is for showing and decides nothing",
    call: /\bnotes\s*\.\s*status\b|\bstatus\s*\.\s*get\s*\(/,
    homes: ["src/orchestration/store/", "src/orchestration/controller/views/", ...statusReaders],
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

/** What the contract's own client says and reads differently stays in one small room, known to the doors alone. */
export const contractClient = {
  room: "src/compat/",
  doors: ["src/daemon/start.ts", "src/client.ts"],
  linesMax: 1_500,
};

/** Words of hard English that no text and no comment of the product contains, and what to write instead. */
export const oddWords: { word: RegExp; instead: string }[] = [
  {
    word: /(?<!\b[Tt]here )\b(?:is|are) no (?!(?:longer|larger|smaller|older|newer|more)\b)/,
    instead: 'x "abc" is not a number',
  },
  { word: /\bnobody\b/i, instead: "no user, no pod, no process" },
  { word: /\bwhoever\b/i, instead: "the user, every client" },
  { word: /\banew\b/i, instead: "again, recreated" },
  { word: /\bmend\b/i, instead: "fix" },
  { word: /\b(?:is|are|was|were|be|been|being) told\b/i, instead: "gets, receives, is reported" },
  { word: /\bmend(?:s|ed|ing)\b/i, instead: "fixes" },
  { word: /\blets? go of\b/i, instead: "releases" },
  { word: /\bwithout a word\b/i, instead: "silently" },
  { word: /\bof one's own\b/i, instead: "its own, your own" },
];

/** How a comment must not begin, and what to write instead: it stands alone, and starts with what the thing is or does. */
export const oddBeginnings: { word: RegExp; instead: string }[] = [
  { word: /^\s*(?:\/\/|\/\*\*) Of /, instead: "what the thing is: Size of one file" },
];

/** Files with words that are data: passwords that are guessed, and SQL that was released. */
export const quotesOddWords = ["src/identity/core/common-passwords.ts", "src/orchestration/store/migrations/"];

/** Names under which the client holds texts of the server. */
export const serverTexts = ["message", "error", "why", "outcome"];

/** Files of the client whose texts of such a name are not the server's, and why. */
export const ownTexts: Record<string, string> = {
  "src/client/entry/run.ts": "a text of the client itself: a place in a manifest",
  "src/client/basics/failures.ts": "what Node says of a wrong command line",
};

/** Who may read a spec field by field: the room that decodes it, and others with their reasons. */
export const decoder = {
  room: "src/orchestration/core/spec/",
  reader: "src/orchestration/core/spec/lenient.ts",
  others: {
    "src/client/manifests/export/":
      "what is exported is written as it stands, also what the server does not know: each field has its counterpart",
  } as Record<string, string>,
};
