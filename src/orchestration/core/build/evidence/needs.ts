import type { SourceTree } from "../runtime.ts";
import { type Sources, takenFromEnv } from "./sources.ts";

/** How a note begins that says what the app needs and nothing assumed. */
export const needsMark = "needs ";

const js: RegExp[] = [
  /\b(?:process|Bun|import\.meta)\.env(?:\.([A-Z][A-Z0-9_]{1,60})\b|\[["']([A-Z][A-Z0-9_]{1,60})["']\])(?!["'\]]{0,2}\)?\s*(?:(?:\|\||\?\?)(?!\s{0,3}(?:""|''|\x60\x60))|\?[^.?]|=[^=]))/g,
  // Schemas of what has to be set: zod, Joi, envalid.
  /^[ \t]+([A-Z][A-Z0-9_]{2,60})[ \t]*:[ \t]*(?:z|Joi|joi|str|num|url|email|Env\.schema)\b(?![^\n]{0,200}(?:optional|default|catch|allow\(["']))[.(]/gm,
  // The same as a schema of JSON, which @fastify/env reads.
  /^[ \t]+["']?([A-Z][A-Z0-9_]{2,60})["']?[ \t]*:[ \t]*\{\s{0,40}["']?type["']?\s{0,9}:\s{0,9}["'](?:string|number|integer|boolean)["'](?![^}]{0,200}\bdefault\b)/gm,
  /\benv(?:\.\w{1,12})?\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)/g,
  /\b(?:[Cc]onfig(?:Service)?|env)\.(?:get|getOrThrow)(?:<\w{1,30}>)?\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)(?!\s*(?:\|\||\?\?))/g,
];
/** A reader of the app's own, such as `mustEnv("KEY")`, that is given a name and no default. */
const readers: readonly RegExp[] = [
  /(?<![\w.])(?:must|require|required)_?(?:[gG]et_?)?[eE]nv\w{0,20}!?\(\s*["']([A-Z][A-Z0-9_]{2,60})["']\s*\)/g,
  /(?<![\w.])get_?(?:[eE]nv_?[vV]ar\w{0,10}|Env)\(\s*["']([A-Z][A-Z0-9_]{2,60})["']\s*\)/g,
  /\b(?:\w{0,30}_)?(?:must|require|required|get|read|fetch)\w{0,30}_(?:or|from)_env!?\(\s*(?:[a-z]\w{0,30}\s*,\s*)?["']([A-Z][A-Z0-9_]{2,60})["']\s*(?:,\s*nil\s*)?\)/g,
];
const reading: Readonly<Record<string, RegExp[]>> = {
  ...{ node: js, bun: js, deno: js },
  python: [
    /\bos\.environ\[["']([A-Z][A-Z0-9_]{1,60})["']\](?!\s*=[^=])/g,
    /\b(?:os\.getenv|environ\.get)\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)(?!\s*or\b)/g,
    /\b(?:env|config)(?:\.\w{1,20})?\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)/g,
    // Names in small letters, where django-environ reads them.
    /\benv(?:\.\w{1,20})?\(\s*["']([a-z][a-z0-9_]{2,60})["']\s*\)/g,
  ],
  ruby: [
    /\bENV\.fetch\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)(?!\s*(?:\{|do\b))/g,
    /\bENV\[["']([A-Z][A-Z0-9_]{1,60})["']\](?!\s*(?:\|\||=[^=]|\?))/g,
  ],
  php: [
    /\b(?:getenv|env)\(\s*["']([A-Z][A-Z0-9_]{1,60})["']\s*\)/g,
    /%env\((?!default)(?:\w{1,20}:){0,3}([A-Z][A-Z0-9_]{1,60})\)%/g,
    /\$_(?:ENV|SERVER)\[["']([A-Z]{2,20}_[A-Z0-9_]{1,60})["']\](?!\s*(?:\?\?|=[^=]))/g,
  ],
  go: [
    /\bos\.(?:Getenv|LookupEnv)\(\s*"([A-Z][A-Z0-9_]{1,60})"\s*\)/g,
    /`[^`\n]{0,80}\benv:"([A-Z][A-Z0-9_]{1,60}),?(?:required|notEmpty)"/g,
  ],
  rust: [/\benv::var(?:_os)?\(\s*"([A-Z][A-Z0-9_]{1,60})"\s*\)(?!\s*\.(?:unwrap_or|ok|is_ok|map_or))/g],
  java: [/\$\{([A-Z][A-Z0-9_]{1,60}):?\}/g, /\bSystem\.getenv\(\s*"([A-Z][A-Z0-9_]{1,60})"\s*\)/g],
  dotnet: [/\bGetEnvironmentVariable\(\s*"([A-Z][A-Z0-9_]{1,60})"\s*\)(?!\s*\?\?)/g],
  elixir: [/\bSystem\.(?:fetch_env!|get_env)\(\s*"([A-Z][A-Z0-9_]{1,60})"\s*\)(?!\s*(?:in\b|\|\|\s*["\d~]))/g],
};

/** Variables that the image, the system or a build sets. */
const given =
  /^(?:PORT|HOST|HOSTNAME|BIND|NODE_ENV|ENV|APP_ENV|RAILS_ENV|RACK_ENV|MIX_ENV|PHX_SERVER|PATH|HOME|USER|PWD|TZ|CI|DEBUG|VERBOSE|TERM|LANG|SHELL|TMPDIR|TMP|TEMP|NO_COLOR|LOG_LEVEL|RUST_LOG|GIN_MODE|SECRET_KEY_BASE_DUMMY|DYNO|PIDFILE|APPDATA|WINDIR|LOCALAPPDATA|USERPROFILE|EDITOR|ANALYZE|INIT_CWD|BROWSER|DJANGO_SETTINGS_MODULE|REQUEST_METHOD|REQUEST_URI|(?:AWS_LAMBDA|VERCEL|NETLIFY|npm|NEXT_RUNTIME|NEXT_PHASE|RENDER|FLY|RAILWAY|HEROKU|GITHUB|CODESPACE|XDG|HTTP|SERVER|REMOTE|CARGO|GO|BUNDLE|RAILS|WDS|VITE_DEV|JEST|ECTO_IPV6|POOL_SIZE|DNS_CLUSTER).{0,60})$/;

/** No name, or a port that may be the program's own: that of a database is not. */
const ownPort =
  /^$|^(?!.{0,40}(?:DB|DATABASE|POSTGRES|PG|SQL|MARIA|MONGO|REDIS|RABBIT|MQ|MAIL|SMTP|KAFKA|MEMCACHED|ELASTIC)\w{0,20}PORT$).{0,60}_PORT$/;

/** Whether a bundler replaces the variable by its value while it builds. */
export function isBuiltIn(name: string): boolean {
  return /^(?:VITE|REACT_APP|NEXT_PUBLIC|VUE_APP|GATSBY|EXPO_PUBLIC|PUBLIC)_/.test(name);
}

/** A name that the code asks by: `DB_HOST = "DB_HOST"` of an enum. */
const keyed = /^[ \t]*([A-Z][A-Z0-9]{0,20}_[A-Z0-9_]{1,50})[ \t]*[=:][ \t]*["']\1["'],?;?[ \t]*$/gm;
/** A default that the sources give for the rest of the program. */
const defaulted = /\b(?:ENV\[["']|process\.env\.)([A-Z][A-Z0-9_]{1,60})(?:["']\])?[ \t]{0,3}(?:\|\||\?\?)=/g;

/** Names of variables that the sources read and give no value of their own. */
export function namesRead({ files }: Sources, language: string): string[] {
  const patterns = [...(reading[language] ?? []), ...readers];
  const names = files.flatMap(({ text, path }) => [
    ...patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map((found) => found.slice(1).find((one) => one !== undefined) ?? ""),
    ),
    ...(path.endsWith(".py") ? requiredSettings(text) : []),
    ...(path.endsWith(".rs")
      ? [...clapFields(text), ...(/#\[database\("/.test(text) ? ["ROCKET_DATABASES"] : [])]
      : []),
  ]);
  const isByKeys = files.some(({ text }) => /\b[cC]onfig(?:Service)?\.get(?:OrThrow)?[<(]|\bprocess\.env\[/.test(text));
  const keys = isByKeys ? files.flatMap(({ text }) => [...text.matchAll(keyed)].map(([, name = ""]) => name)) : [];
  const set = new Set(files.flatMap(({ text }) => [...text.matchAll(defaulted)].map(([, name = ""]) => name)));
  const all = [...names, ...keys, ...takenFromEnv(files), ...openSettings(files, language)].filter(
    (name) => !set.has(name),
  );
  return [...new Set(all)].filter((name) => !ownPort.test(name) && !given.test(name) && !isBuiltIn(name));
}

const askedSettings: Readonly<Record<string, RegExp>> = {
  java: /@Value\(\s{0,9}(?:value\s{0,9}=\s{0,9})?"\\?\$\{([\w.-]{2,80})\}"/g,
  dotnet: /\b[cC]onfiguration\[\s{0,9}"(\w{1,40}(?::\w{1,40}){0,4})"\s{0,9}\](?!\s{0,9}\?\?)/g,
};

/** Settings that the code of Spring or .NET asks for and that no file of settings has, by the variables that set them. */
function openSettings(files: Sources["files"], language: string): string[] {
  const asked = askedSettings[language];
  if (asked === undefined) return [];
  const isSettings = language === "java" ? /\.(?:properties|ya?ml|conf)$/ : /\.json$/;
  const settings = files.filter(({ path }) => isSettings.test(path)).map(({ text }) => text);
  const names = files.flatMap(({ text }) => [...text.matchAll(asked)].map(([, name = ""]) => name));
  return names.flatMap((name) => {
    const last = name.split(/[.:]/).at(-1) ?? "";
    const has =
      language === "java"
        ? new RegExp(String.raw`^[ \t]*(?:[\w.-]{1,100}\.)?${last}[ \t]*[=:]`, "m")
        : new RegExp(String.raw`"${last}"\s{0,9}:\s{0,9}(?!\s|""|null)`);
    if (settings.some((text) => has.test(text))) return [];
    if (language === "dotnet") return [name.replaceAll(":", "__")];
    return /^[A-Z_\d]+$/.test(name) ? [name] : [name.replaceAll("-", "").replaceAll(".", "_").toUpperCase()];
  });
}

/** Variables of node-config without a default: `config/custom-environment-variables.json` names them by their settings. */
export function customNames(tree: SourceTree, folder: string): string[] {
  const text = tree.read(`${folder}config/custom-environment-variables.json`) ?? "";
  const defaults = ["default", "production"].map((name) => tree.read(`${folder}config/${name}.json`) ?? "").join("\n");
  const pairs = [...text.slice(0, 32_000).matchAll(/"([\w-]{1,60})"\s{0,9}:\s{0,9}"(\w{2,80})"/g)];
  return pairs.flatMap(([, key = "", name = ""]) => {
    const isSet = new RegExp(String.raw`"${key}"\s{0,9}:\s{0,9}(?:"[^"]|[\d\[{tf])`).test(defaults);
    return isSet || key === "__format" ? [] : [name];
  });
}

/** Names without a value in an example of `.env`, which the sources ask from a place of their own, such as `secrets.NAME`. */
export function sampleNames(tree: SourceTree, folder: string, { files }: Sources): string[] {
  const samples = ["example", "sample", "template"].map((end) => tree.read(`${folder}.env.${end}`) ?? "").join("\n");
  const open = [...samples.slice(0, 16_000).matchAll(/^([A-Z][A-Z0-9_]{2,60})=[ \t]*(?:""|'')?\r?$/gm)];
  return open.flatMap(([, name = ""]) => {
    const asked = new RegExp(String.raw`(?<!\benv)(?<!\bENV)\.${name}\b`);
    const usual = new RegExp(String.raw`[eE][nN][vV]\w{0,10}[^\n]{0,12}["'.]${name}\b`);
    const isOwn =
      files.some(({ path, text }) => /[jt]s$/.test(path) && asked.test(text)) &&
      !files.some(({ text }) => usual.test(text));
    return !isOwn || ownPort.test(name) || given.test(name) || isBuiltIn(name) ? [] : [name];
  });
}

const localDefault =
  /["'`.]([A-Z][A-Z0-9]{0,20}_[A-Z0-9_]{1,40}|HOST_?URL|DOMAIN|ORIGIN)["'`]?\]?\)?[ \t]{0,3}(?:,|\|\||\?\?|\bor\b)[ \t]{0,3}["'`]https?:\/\/(?:localhost|127\.0\.0\.1)\b/g;

/** Lines that tell developers, and lists of who may ask. */
const talk = /^\s{0,80}(?:\/\/|#|\*)|console|print|\blog|cors|origin|allow|swagger|server|example|assert|expect|curl/i;

/** Variables whose default is an address of this machine, such as the own address of the app that is written into links. */
export function localNote({ files }: Sources, said: readonly string[], port = 0): string[] {
  const names = files.flatMap(({ text }) => [...text.matchAll(localDefault)].map(([, name = ""]) => name));
  const open = [...new Set(names)].filter((name) => !isBuiltIn(name) && !said.some((note) => note.includes(name)));
  const own = new RegExp(String.raw`(?:[=:(,+]|return)\s{0,3}["'\x60]https?:\/\/(?:localhost|127\.0\.0\.1):${port}\/`);
  const isLink = (line: string) => line.length < 400 && own.test(line) && !talk.test(line);
  const file = files.find(({ text }) => text.split("\n").some(isLink))?.path;
  return [
    ...(open.length === 0
      ? []
      : [
          `${needsMark}${open.slice(0, 6).join(", ")} in env, as the default is http://localhost, which visitors and other containers do not reach`,
        ]),
    ...(file === undefined
      ? []
      : [
          `${needsMark}its own address from a variable: ${file} writes http://localhost:${port}, which visitors do not reach`,
        ]),
  ];
}

/** Fields of pydantic without a default: the program does not start without them. */
function requiredSettings(text: string): string[] {
  const classes = [
    ...text.matchAll(/^class \w{1,80}\([^)\n]{0,100}BaseSettings\):\n((?:(?:[ \t][^\n]{0,400})?\n){0,200})/gm),
  ];
  return classes.flatMap(([, body = ""]) =>
    [
      ...body.matchAll(
        /^ {4}([A-Za-z]\w{1,60})[ \t]*:[ \t]*(?:str|int|bool|(?:list|List|dict|Dict)\[[^\]\n]{1,60}\]|\w*(?:Url|Dsn|DSN|Str))[ \t]*$/gm,
      ),
    ].map(([, name = ""]) => name.toUpperCase()),
  );
}

/** Fields of clap whose variable has the name of the field. */
function clapFields(text: string): string[] {
  const fields = text.matchAll(
    /#\[(?:clap|arg|structopt)\([^\]]{0,200}\benv\b(?![^\]]{0,200}default)[^\]]{0,200}\]\s{0,80}(?:pub(?:\(crate\))? )?(\w{1,60})\s*:\s*(?!Option)/g,
  );
  return [...fields].map(([, name = ""]) => name.toUpperCase());
}

/** The part of a tree that holds the program. */
export interface App {
  sources: Sources;
  language: string;
  folder: string;
}

/** What a framework needs to work, where the sources show that it does not have it. */
export function frameworkNotes(tree: SourceTree, app: App): string[] {
  if (app.language === "python") return djangoNotes(tree, app);
  return [];
}

/** Django answers 400 for a host that its settings do not name, and serves no files of its own. */
function djangoNotes(tree: SourceTree, { sources, folder }: App): string[] {
  const settings = sources.files.filter(
    ({ text }) => /^[ \t]*INSTALLED_APPS\b/m.test(text) || /^[ \t]*ALLOWED_HOSTS\b/m.test(text),
  );
  const hosts = settings.flatMap(({ path, text }) =>
    [...text.matchAll(/^[ \t]*ALLOWED_HOSTS[ \t]*\+?=[ \t]*(\[[^\]]{0,400}\])/gm)].map(([, list = ""]) => ({
      path,
      list,
    })),
  );
  const open =
    hosts.some(({ list }) => /["']\*["']/.test(list)) ||
    settings.some(({ text }) => /ALLOWED_HOSTS[^\n]{0,80}(?:env|getenv|config|split)/.test(text));
  const [first] = hosts;
  const names = first === undefined ? [] : [...first.list.matchAll(/["']([\w.-]+)["']/g)].map(([, name = ""]) => name);
  const others = names.filter((name) => !/^(?:localhost|127\.0\.0\.1|0\.0\.0\.0)$/.test(name));
  const packages = [
    "requirements.txt",
    "pyproject.toml",
    "Pipfile",
    "requirements/base.txt",
    "requirements/production.txt",
  ]
    .map((file) => tree.read(folder + file) ?? "")
    .join("\n");
  const usesWhitenoise = settings.some(({ text }) => /whitenoise/i.test(text));
  const isUnused =
    settings.some(({ text }) => /^MIDDLEWARE\b/m.test(text)) &&
    !usesWhitenoise &&
    /^[ \t"']{0,6}whitenoise\b/im.test(packages);
  const isServed =
    (!isUnused && /whitenoise/i.test(packages)) || /django-storages|boto3|cloudinary|dj-static/i.test(packages);
  return [
    ...(first === undefined || open
      ? []
      : [
          others.length === 0
            ? `ALLOWED_HOSTS of ${first.path} names no domain, so Django answers 400 to visitors: add the domain of the app to it`
            : `ALLOWED_HOSTS of ${first.path} names ${others.slice(0, 3).join(", ")}; Django answers 400 for other domains: add the domain of the app to it`,
        ]),
    ...(settings.length === 0 ||
    isServed ||
    !settings.some(({ text }) => /django\.contrib\.(?:admin|staticfiles)/.test(text))
      ? []
      : [
          isUnused
            ? "gunicorn serves no static files, and whitenoise is installed but not in MIDDLEWARE; pages and the admin have no styles until it is"
            : "gunicorn serves no static files, and no package does (whitenoise); pages and the admin have no styles until one is added",
        ]),
  ];
}
