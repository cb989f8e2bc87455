import { type Errand, type Setting, verbs, yesFlag } from "./verbs.ts";
import { everyFlag, readWords } from "./words.ts";

const otherNames: Readonly<Record<string, string>> = {
  ...{ desc: "describe", re: "release", releases: "release", plugin: "plugins" },
};

/** What may stand before the verb. */
const headFlags = [yesFlag, { names: ["--version"] }];

/** Fails `invalid` for words that mean nothing, as that client would. */
export function translate(argv: readonly string[], setting: Setting): Errand {
  const { before, verb, rest } = verbOf(argv);
  const known = verb === undefined ? undefined : verbs[otherNames[verb] ?? verb];
  const head = readWords(before, headFlags);
  const asksHelp = head.on("--help") || (rest.length === 1 && ["-h", "--help"].includes(rest[0] ?? ""));
  const url = head.value("--controller-url") ?? setting.controllerUrl;
  const endpoint = url === undefined ? [] : ["--endpoint", url];
  // A plugin's words are its own: nothing behind its name is read here. What berth would ask was asked.
  if (known === undefined || verb === undefined || asksHelp) return pluginOrOwn({ argv, verb, setting, endpoint });
  const written = readWords([...before, ...rest], known.flags, known);
  const own = written.value("--controller-url") ?? setting.controllerUrl;
  const output = written.value("--output");
  const errand = known.errand({
    ...setting,
    written,
    yes: setting.forwarded || written.on("--auto-approve") ? ["-y"] : [],
    format: output === "json" || output === "yaml" ? output : undefined,
  });
  return own === undefined || errand.type === "receive"
    ? errand
    : { ...errand, argv: ["--endpoint", own, ...errand.argv] };
}

interface Unknown {
  argv: readonly string[];
  verb: string | undefined;
  setting: Setting;
  endpoint: readonly string[];
}

function pluginOrOwn({ argv, verb, setting, endpoint }: Unknown): Errand {
  const isOwn = verb === undefined || ["help", "version", "pat", "remote", "self-update"].includes(verb);
  const { before, rest } = verbOf(argv);
  if (isOwn || verb in verbs || verb in otherNames) return { type: "run", argv: [...endpoint, ...argv] };
  // That client prints the answer of a plugin as it is where it is to be JSON, and runs nothing of it.
  const output = readWords(before, headFlags).value("--output");
  const own = rest[rest.indexOf("-o") + 1];
  const wantsJson = output === "json" || (rest.includes("-o") && own === "json");
  const words = [
    ...endpoint,
    ...(wantsJson ? ["-o", "json"] : []),
    ...(setting.forwarded ? ["--yes"] : []),
    verb,
    ...rest,
  ];
  return { type: "run", argv: words, codes: "own" };
}

/** The first word that is not a flag, split at its first colon where the client has not done so. */
function verbOf(argv: readonly string[]): { before: string[]; verb: string | undefined; rest: string[] } {
  let at = 0;
  while (at < argv.length && (argv[at] ?? "").startsWith("-")) {
    const takes = everyFlag.some(({ names, takes }) => takes === true && names.includes(argv[at] ?? ""));
    at += takes ? 2 : 1;
  }
  const before = argv.slice(0, at);
  const [, verb = argv[at], second] = /^([A-Za-z0-9_-]+):([A-Za-z0-9_:-]+)$/.exec(argv[at] ?? "") ?? [];
  const rest = [...(second === undefined ? [] : [second]), ...argv.slice(at + 1)];
  // `config:set REF K=V` is `config REF set K=V`.
  if (verb !== "config" || second === undefined) return { before, verb, rest };
  const reference = rest.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  if (reference === -1) return { before, verb, rest };
  const [word = ""] = rest.splice(reference, 1);
  return { before, verb, rest: [word, ...rest] };
}
