import { Failure } from "../../base/wire/failure.ts";
import { readReceive, type Receiving } from "./receiving.ts";
import { bare, config, enveloped, rows, type Shape } from "./shapes.ts";
import { type Foreign, tooMany, type Written, type WrittenFlag } from "./words.ts";

/** What a command line of that client means; `run` is done by words of berth. */
export type Errand =
  | {
      type: "run";
      argv: readonly string[];
      /** Prints the data of its JSON answer in another shape. */
      shape?: Shape;
      /** Told as events where that client reads them. */
      told?: "apply";
      /** Stands for stdin. */
      stdin?: string;
      /** Its exit code: 0 or 1; 2 for changes; or that of the program that it ran, which may have said nothing. */
      codes?: "one" | "changes" | "own";
    }
  | ({ type: "receive" } & Receiving);

export interface Setting {
  /** The words came over ssh from that client, which has asked its questions. */
  forwarded: boolean;
  /** `.<prefix>`, where that client looks for manifests. */
  prefix: string;
  /** Address of the server as that client's variable gives it. */
  controllerUrl?: string | undefined;
}

interface Call extends Setting {
  written: Written;
  /** `-y` where no question is to be asked. */
  yes: readonly string[];
  /** `json` or `yaml`; undefined for text, which is also what an unknown value means. */
  format: "json" | "yaml" | undefined;
}

interface Verb extends Foreign {
  flags: readonly WrittenFlag[];
  errand: (call: Call) => Errand;
}

const flag = (...names: string[]): WrittenFlag => ({ names });
const valued = (...names: string[]): WrittenFlag => ({ names, takes: true });

const files = [valued("--file", "-f"), valued("--format")];
export const yesFlag = flag("--auto-approve", "-y", "--yes");
const filters = [valued("--kind", "-k"), valued("--scope", "-s"), valued("--name", "-n")];

export const verbs: Readonly<Record<string, Verb>> = {
  apply: {
    flags: [...files, yesFlag, ...switches("--prune", "--force", "--eject"), flag("--verbose", "-v"), valued("--app")],
    errand: (call) => ({
      type: "run",
      told: "apply",
      argv: [
        "apply",
        ...manifests(call),
        ...given(call, { "--prune": "--prune", "--force": "--pull" }),
        "-y",
        "--no-wait",
      ],
      ...(call.format === undefined ? {} : { shape: enveloped(call.format) }),
    }),
  },
  diff: {
    flags: [...files, ...switches("--prune", "--detailed-exitcode"), flag("--verbose", "-v")],
    errand: (call) => ({
      type: "run",
      argv: ["diff", ...manifests(call), ...given(call, same("--prune", "--detailed-exitcode"))],
      codes: call.written.on("--detailed-exitcode") ? "changes" : "one",
      ...(call.format === undefined ? {} : { shape: enveloped(call.format) }),
    }),
  },
  delete: { flags: [...files, yesFlag, ...switches("--prune", "--dry-run")], errand: deletion },
  get: {
    flags: [...filters, flag("--show-env")],
    errand(call) {
      const [what = "", reference, ...more] = call.written.words;
      if (more.length > 0) throw tooMany(more[0]);
      if (["pod", "pd"].includes(what) && reference !== undefined) return describePod(call, reference);
      const isPods = ["pods", "pod", "pd"].includes(what);
      const word = reference ?? (isPods ? chosen(call) : undefined);
      return shaped(call, ["get", isPods ? "pods" : what, ...optional(word)]);
    },
  },
  describe: {
    flags: [flag("--show-env")],
    errand(call) {
      const [kind = "", reference] = call.written.words;
      if (["pod", "pd"].includes(kind) && reference !== undefined) return describePod(call, reference);
      return shaped(call, ["describe", ...call.written.words, ...given(call, { "--show-env": "--reveal" })]);
    },
  },
  logs: {
    flags: [flag("--follow", "-f"), valued("--tail", "-t")],
    errand(call) {
      const tail = call.written.value("--tail");
      const lines = tail === undefined || tail === "0" ? [] : ["--tail", tail];
      return { type: "run", argv: ["logs", ...call.written.words, ...given(call, same("--follow")), ...lines] };
    },
  },
  exec: {
    flags: [
      ...[valued("--container"), flag("--tty", "-t"), flag("--stdin", "-i")],
      ...[valued("--workdir", "-w"), valued("--user", "-u"), valued("--env", "-e")],
    ],
    command: 2,
    first: "--container",
    errand: execution,
  },
  run: {
    flags: [],
    command: 2,
    errand(call) {
      if (call.written.words.length > 1) return execution(call);
      const argv = ["run", ...call.written.words];
      return call.format === undefined ? { type: "run", argv } : { type: "run", argv, shape: enveloped(call.format) };
    },
  },
  restart: {
    flags: [valued("--kind", "-k")],
    errand: (call) => ({ type: "run", argv: ["restart", ...call.written.words, ...withValue(call, "--kind")] }),
  },
  stop: {
    flags: switches("--freeze", "--no-freeze"),
    errand(call) {
      if (call.written.on("--freeze") && call.written.on("--no-freeze"))
        throw new Failure("invalid", "--freeze and --no-freeze exclude each other");
      const bare = call.written.words.find((word) => !/[/.]/.test(word));
      if (bare !== undefined)
        throw new Failure("invalid", `"${bare}" is a whole scope: write SCOPE/NAME or SCOPE/NAME.REPLICA`);
      return { type: "run", argv: ["stop", ...call.written.words, ...given(call, same("--no-freeze"))] };
    },
  },
  start: { flags: [], errand: ({ written }) => ({ type: "run", argv: ["start", ...written.words] }) },
  release: {
    flags: [],
    errand(call) {
      const [reference, action = "history", ...more] = call.written.words;
      if (more.length > 0) throw tooMany(more[0]);
      if (reference === undefined) throw new Failure("invalid", "say which: release SCOPE/NAME [history|run]");
      if (action === "run") return { type: "run", argv: ["release", "run", reference] };
      if (action === "history") return shaped(call, ["releases", reference]);
      throw new Failure("invalid", `release ${reference} knows history and run, not "${action}"`);
    },
  },
  rollback: {
    flags: [],
    errand(call) {
      const [reference, release, ...more] = call.written.words;
      if (more.length > 0) throw tooMany(more[0]);
      const to = release === undefined ? [] : ["--to", release];
      return { type: "run", argv: ["rollback", ...optional(reference), ...to] };
    },
  },
  config: { flags: switches("--no-restart"), errand: configuration },
  stats: {
    flags: [...filters, ...switches("--orphans")],
    errand(call) {
      const [reference] = call.written.words;
      const filter = chosen(call);
      if (reference !== undefined && filter !== undefined)
        throw new Failure("invalid", "a reference and -k, -s or -n exclude each other");
      const argv = ["stats", ...optional(reference ?? filter), ...given(call, same("--orphans"))];
      return call.format === undefined
        ? { type: "run", argv }
        : { type: "run", argv, shape: bare(call.format, rows("pods")) };
    },
  },
  plugins: {
    flags: [valued("--version"), flag("--replace"), yesFlag],
    errand: (call) =>
      shaped(call, [
        ...["plugins", ...call.written.words, ...withValue(call, "--version"), ...given(call, same("--replace"))],
        ...call.yes,
      ]),
  },
  "receive-pack": {
    flags: [...switches("--force"), valued("--spec"), valued("--procfile")],
    errand: ({ written }) => ({ type: "receive", ...readReceive(written) }),
  },
};

/** Manifests that come on stdin have their source elsewhere: what is built of them comes by receive-pack. */
function manifests({ written, prefix }: Call): string[] {
  const paths = written.values("--file");
  const format = written.value("--format");
  const isProcfile =
    format === "procfile" || written.on("--eject") || paths.some((path) => /(^|\/)Procfile(\.|$)/.test(path));
  if (isProcfile)
    throw new Failure(
      "invalid",
      `a Procfile is applied from the machine that has the source: ${prefix} -r SERVER apply -f Procfile`,
    );
  if (written.words.length > 0) throw new Failure("invalid", `files need -f: -f ${written.words[0]}`);
  const found = paths.length === 0 ? [`.${prefix}`] : paths;
  return [
    ...found.flatMap((path) => ["-f", path]),
    ...(format === undefined ? [] : ["--format", format]),
    ...(found.includes("-") ? ["--no-build"] : []),
  ];
}

function deletion(call: Call): Errand {
  const { written } = call;
  const paths = written.values("--file");
  if (paths.length > 0 && written.words.length > 0)
    throw new Failure("invalid", "-f and a reference exclude each other");
  if (written.words.length > 1) throw tooMany(written.words[1]);
  const format = written.value("--format");
  const named = paths.length > 0 ? paths.flatMap((path) => ["-f", path]) : written.words;
  // With the manifests on stdin, no question can be answered there.
  const yes = call.yes.length > 0 || paths.includes("-") ? ["-y"] : [];
  const flags = [...(format === undefined ? [] : ["--format", format]), ...given(call, same("--prune", "--dry-run"))];
  return shaped(call, ["delete", ...named, ...flags, ...yes, "--ignore-not-found"]);
}

function configuration(call: Call): Errand {
  const { written } = call;
  const [reference, action = "list", ...rest] = written.words;
  if (reference === undefined) throw new Failure("invalid", "say which: config SCOPE or config SCOPE/NAME");
  const quiet = given(call, same("--no-restart"));
  switch (action) {
    case "list":
    case "get": {
      const format = written.value("--output") ?? "text";
      const shape = config({ format, pattern: action === "get" ? rest[0] : undefined });
      return { type: "run", argv: ["config", "get", reference], shape };
    }
    case "set":
      if (rest.some((pair) => pair.endsWith("="))) quiet.push("--unset-empty");
      // A value of "-" is that character: berth itself would read it from stdin.
      return { type: "run", argv: ["config", "set", reference, ...rest, ...quiet], stdin: "-" };
    case "unset":
      return { type: "run", argv: ["config", "unset", reference, ...rest, ...quiet] };
    default:
      throw new Failure("invalid", `config ${reference} knows list, get, set and unset, not "${action}"`);
  }
}

function execution(call: Call): Errand {
  const { written } = call;
  const container = written.value("--container");
  const [reference, ...command] = container === undefined ? written.words : [container, ...written.words];
  if (reference === undefined || command.length === 0)
    throw new Failure("invalid", "say what to run: exec SCOPE/NAME COMMAND…");
  const env = written.values("--env").flatMap((text) => text.split(/,(?=[A-Za-z_][A-Za-z0-9_]*=)/));
  const flags = [
    ...given(call, { "--tty": "-t", "--stdin": "-i" }),
    ...withValue(call, "--workdir"),
    ...withValue(call, "--user"),
    ...env.flatMap((pair) => ["--env", pair]),
  ];
  return { type: "run", argv: ["exec", ...flags, reference, "--", ...command], codes: "own" };
}

function describePod(call: Call, reference: string): Errand {
  return shaped(call, ["describe", "pod", reference, ...given(call, { "--show-env": "--reveal" })]);
}

function shaped({ format }: Call, argv: readonly string[]): Errand {
  return format === undefined ? { type: "run", argv } : { type: "run", argv, shape: bare(format) };
}

/** `-k`, `-s` and `-n` as one word of berth. */
function chosen({ written }: Call): string | undefined {
  const [kind, scope, name] = ["--kind", "--scope", "--name"].map((one) => written.value(one));
  if (kind === undefined && scope === undefined) return name;
  if (name === undefined && kind !== undefined && scope !== undefined)
    throw new Failure("invalid", "-k and -s together need -n");
  if (name === undefined) return scope ?? kind;
  return [kind, scope, name].filter((part) => part !== undefined).join("/");
}

function switches(...names: string[]): WrittenFlag[] {
  return names.map((name) => flag(name));
}

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** The switches that are on, under their names of berth. */
function given({ written }: Call, names: Record<string, string>): string[] {
  return Object.entries(names).flatMap(([theirs, ours]) => (written.on(theirs) ? [ours] : []));
}

function withValue({ written }: Call, name: string): string[] {
  const value = written.value(name);
  return value === undefined ? [] : [name, value];
}

function optional(word: string | undefined): string[] {
  return word === undefined ? [] : [word];
}
