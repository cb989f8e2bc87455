import { type Process, readProcfile } from "../procfile.ts";
import { fieldsOf, type SourceTree } from "../runtime.ts";

/** What the file of one platform says of an app. */
export interface PlatformHints {
  /** Each has the type of a Procfile: `web`, `worker`, `release`. */
  processes: Process[];
  port?: number | undefined;
  /** Path that answers once the program is ready. */
  health?: string | undefined;
  /** Folder that holds the program. */
  folder?: string | undefined;
  /** Lines that build, as they are written. */
  build?: string | undefined;
  /** Variables; undefined: the file gives no value. */
  env: Record<string, string | undefined>;
  /** How many of each process run. */
  counts?: Record<string, number>;
  /** Packages of Debian that it installs. */
  packages?: string[];
  /** What of the file has no place in a manifest of one app. */
  notes: string[];
}

type Fields = Record<string, unknown>;

/** A longer file is nothing that a person wrote. */
const textMax = 64 * 1024;

function parsed(text: string | undefined, parse: (text: string) => unknown): Fields | undefined {
  if (text === undefined || text.length > textMax) return undefined;
  try {
    return fieldsOf(parse(text));
  } catch {
    return undefined;
  }
}

function line(value: unknown): string | undefined {
  const lines = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [value];
  const text = lines.every((one) => typeof one === "string") ? lines.join(" && ").trim() : "";
  return text === "" ? undefined : oneLine(text);
}

/** Lines of a script, one after the other. */
function oneLine(text: string): string {
  const lines = text.split("\n").map((one) => one.trim());
  return lines.filter((one) => one !== "").join(" && ");
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function portOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 65_536 ? value : undefined;
}

function pathOf(value: unknown): string | undefined {
  return typeof value === "string" && /^\/[\w./~%-]{0,200}$/.test(value) ? value : undefined;
}

function folderOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const folder = value.replace(/^\.?\//, "").replace(/\/$/, "");
  return /^\w[\w./@-]{0,200}$/.test(folder) && !folder.includes("..") ? folder : undefined;
}

function processOf(type: string, value: unknown): Process[] {
  const command = line(value);
  return command === undefined ? [] : [{ type, command }];
}

function variables(entries: [string, unknown][]): Record<string, string | undefined> {
  const named = entries.filter(([name]) => /^[A-Za-z_]\w{0,200}$/.test(name));
  const isPlain = (value: unknown) => ["string", "number", "boolean"].includes(typeof value) && value !== "";
  return Object.fromEntries(named.map(([name, value]) => [name, isPlain(value) ? String(value) : undefined]));
}

function procfile(tree: SourceTree): PlatformHints | undefined {
  const text = tree.read("Procfile");
  return text === undefined ? undefined : { processes: readProcfile(text), env: {}, notes: [] };
}

function railway(parse: (text: string) => unknown, file: string) {
  return (tree: SourceTree): PlatformHints | undefined => {
    const json = parsed(tree.read(file), parse);
    if (json === undefined) return undefined;
    const deploy = fieldsOf(json.deploy);
    return {
      processes: [...processOf("web", deploy.startCommand), ...processOf("release", deploy.preDeployCommand)],
      health: pathOf(deploy.healthcheckPath),
      build: line(fieldsOf(json.build).buildCommand),
      env: {},
      notes: [],
    };
  };
}

/** The first service that answers requests is the app; its workers are beside it. */
function render(tree: SourceTree): PlatformHints | undefined {
  const file = parsed(tree.read("render.yaml"), Bun.YAML.parse);
  if (file === undefined) return undefined;
  const services = listOf(file.services).filter((one) => typeof (one.runtime ?? one.env ?? "node") !== "object");
  const isProgram = (one: Fields) => !["docker", "image", "static", "redis"].includes(String(one.runtime ?? one.env));
  const web = services.find((one) => ["web", "pserv", undefined].includes(one.type as string) && isProgram(one));
  const folder = folderOf((web ?? services[0])?.rootDir);
  const isBeside = (one: Fields) => one.type === "worker" && isProgram(one) && folderOf(one.rootDir) === folder;
  const workers = services.filter(isBeside);
  const others = services.filter(
    (one) => one !== web && !isBeside(one) && !["redis", "keyvalue"].includes(String(one.type)),
  );
  const env = listOf((web ?? workers[0])?.envVars).map((one): [string, unknown] => [String(one.key), one.value]);
  const build = line((web ?? workers[0])?.buildCommand);
  return {
    processes: [
      ...processOf("web", web?.startCommand),
      ...workers.flatMap((one, index) => processOf(index === 0 ? "worker" : `worker${index + 1}`, one.startCommand)),
      ...processOf("release", web?.preDeployCommand),
    ],
    health: pathOf(web?.healthCheckPath),
    folder,
    build,
    env: variables(env),
    notes: others.map(
      (one) => `render.yaml also has ${String(one.type)} ${String(one.name)}, which is not part of this manifest`,
    ),
  };
}

function fly(tree: SourceTree): PlatformHints | undefined {
  const file = parsed(tree.read("fly.toml"), Bun.TOML.parse);
  if (file === undefined) return undefined;
  const service = fieldsOf(file.http_service);
  const older = listOf(file.services)[0] ?? {};
  const checks = [...listOf(service.checks), ...listOf(service.http_checks), ...listOf(older.http_checks)];
  const named = Object.values(fieldsOf(file.checks)).map(fieldsOf);
  const processes = Object.entries(fieldsOf(file.processes)).filter(([type]) => /^[a-z][a-z0-9-]{0,28}$/.test(type));
  // The first is the one that answers requests, unless a service names another.
  const [served] = [service.processes, older.processes].flatMap((names) => (Array.isArray(names) ? names : []));
  const web = processes.some(([type]) => type === served) ? served : processes[0]?.[0];
  return {
    processes: [
      ...processes.flatMap(([type, command]) => processOf(type === web ? "web" : type, command)),
      ...processOf("release", fieldsOf(file.deploy).release_command),
    ],
    port: portOf(service.internal_port) ?? portOf(older.internal_port),
    health: [...checks, ...named].map((check) => pathOf(check.path)).find((path) => path !== undefined),
    env: variables(Object.entries(fieldsOf(file.env))),
    notes: [],
  };
}

/** Packages of Nix beside the languages, by their name in Debian. */
const nixNames: Readonly<Record<string, string>> = {
  ...{ ffmpeg: "ffmpeg", imagemagick: "imagemagick", chromium: "chromium", git: "git", curl: "curl", wget: "wget" },
  ...{ graphviz: "graphviz", ghostscript: "ghostscript", pandoc: "pandoc", poppler_utils: "poppler-utils" },
  ...{ "poppler-utils": "poppler-utils", tesseract: "tesseract-ocr", sqlite: "sqlite3", "ffmpeg-full": "ffmpeg" },
};
const nixLanguages =
  /^(?:\.\.\.|(?:nodejs|node|npm|pnpm|yarn|bun|deno|python|pip|poetry|uv|php|ruby|bundler|go|jdk|openjdk|maven|gradle|rust|cargo|gcc|elixir|erlang|dotnet|virtualenv|corepack)(?:[\d_.-].{0,60})?)$|Packages\./;

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

function isPackage(name: string): boolean {
  return /^[a-z0-9][a-z0-9+.-]{1,100}$/.test(name);
}

/** A list of packages for the platform that Heroku's images are made of. */
function aptfile(tree: SourceTree, file = "Aptfile"): PlatformHints | undefined {
  const text = tree.read(file);
  if (text === undefined || text.length > textMax) return undefined;
  const lines = text.split("\n").map((one) => one.replace(/#.*/, "").trim());
  const isList = (one: string) => one.split(/\s+/).every(isPackage);
  const others = lines.filter((one) => one !== "" && !isList(one));
  const shown = others.slice(0, 3).map((one) => (one.length > 80 ? `${one.slice(0, 77)}...` : one));
  return {
    processes: [],
    env: {},
    packages: lines.filter((one) => one !== "" && isList(one)).flatMap((one) => one.split(/\s+/)),
    notes:
      others.length === 0
        ? []
        : [`${file} also names ${shown.join(", ")}, which is not installed; to install it, write a Dockerfile`],
  };
}

function nixpacks(tree: SourceTree): PlatformHints | undefined {
  const file = parsed(tree.read("nixpacks.toml"), Bun.TOML.parse);
  if (file === undefined) return undefined;
  const phases = fieldsOf(file.phases);
  const setup = fieldsOf(phases.setup);
  const nix = [...texts(setup.nixPkgs), ...texts(setup.nixLibs)].filter((name) => !nixLanguages.test(name));
  const unknown = nix.filter((name) => nixNames[name] === undefined);
  return {
    packages: [...texts(setup.aptPkgs).filter(isPackage), ...nix.flatMap((name) => nixNames[name] ?? [])],
    processes: processOf("web", fieldsOf(file.start).cmd ?? fieldsOf(phases.start).cmd),
    build: line(fieldsOf(phases.build).cmds),
    env: variables(Object.entries(fieldsOf(file.variables))),
    notes:
      unknown.length === 0
        ? []
        : [
            `nixpacks.toml asks for ${unknown.slice(0, 5).join(", ")} of Nix, which is not installed; if the program needs it, name Debian's package in aptPkgs`,
          ],
  };
}

/** Heroku's. Expo uses the same name for something else. */
function appJson(tree: SourceTree): PlatformHints | undefined {
  const file = parsed(tree.read("app.json"), JSON.parse);
  if (file === undefined || file.expo !== undefined) return undefined;
  const env = Object.entries(fieldsOf(file.env)).map(([name, value]): [string, unknown] => {
    return [name, typeof value === "string" ? value : fieldsOf(value).value];
  });
  const { postdeploy, dokku } = fieldsOf(file.scripts);
  const once = line(postdeploy);
  const addOns = (Array.isArray(file.addons) ? file.addons : []).map(
    (one) => String(fieldsOf(one).plan ?? one).split(":")[0] ?? "",
  );
  const jobs = listOf(file.cron)
    .map((one) => line(one.command))
    .filter((one) => one !== undefined);
  const counts = Object.entries(fieldsOf(file.formation)).flatMap(([type, value]): [string, number][] => {
    const count = Number(fieldsOf(value).quantity);
    return Number.isInteger(count) && count >= 0 && count <= 1000 ? [[type, count]] : [];
  });
  const checks = Array.isArray(fieldsOf(file.healthchecks).web) ? listOf(fieldsOf(file.healthchecks).web) : [];
  return {
    processes: processOf("release", fieldsOf(dokku).predeploy),
    env: variables(env),
    counts: Object.fromEntries(counts),
    health: checks.map((check) => pathOf(check.path)).find((path) => path !== undefined),
    notes: [
      ...(once === undefined
        ? []
        : [`app.json runs "${once}" once after the first deploy; to do the same, run berth run`]),
      ...addOns.map((name) => `app.json asks for the add-on ${name}; ${replacementOf(name)}`),
      ...jobs.map((command) => `app.json runs "${command}" on a schedule; to do the same, write a cronjob`),
    ],
  };
}

function replacementOf(addOn: string): string {
  const kind = /postgres/.test(addOn) ? "postgres" : /redis|key-?value/.test(addOn) ? "redis" : undefined;
  return kind === undefined
    ? "berth has no counterpart: set the variables of one that you run or rent"
    : `for a database with its URL in the config, write kind: ${kind} with links`;
}

/** The files, the most telling first. */
export const platforms: Readonly<Record<string, (tree: SourceTree) => PlatformHints | undefined>> = {
  Procfile: procfile,
  "railway.json": railway(JSON.parse, "railway.json"),
  "railway.toml": railway(Bun.TOML.parse, "railway.toml"),
  "render.yaml": render,
  "fly.toml": fly,
  "nixpacks.toml": nixpacks,
  "app.json": appJson,
  Aptfile: (tree) => aptfile(tree),
  // The platform of Streamlit reads this one.
  "packages.txt": (tree) =>
    /^streamlit\b/m.test(tree.read("requirements.txt") ?? "") ? aptfile(tree, "packages.txt") : undefined,
};
