import { inFolder } from "../node/parts.ts";
import { namesStart, plainName, type SourceTree } from "../runtime.ts";

/** How a Python program starts. */
export interface PythonStart {
  framework?: string;
  words: string[];
  /** Packages that it takes beside the framework. */
  needs?: string[];
  notes?: string[];
  /** More of the line ENV, with a blank in front. */
  env?: string;
  /** A line before the program is another user's. */
  before?: string | undefined;
}

export const bind = "0.0.0.0:8000";
export const listening = ["--host", "0.0.0.0", "--port", "8000"];
/** The folder of `manage.py`, with a slash at its end: the root, or the only one below it that has one. */
export function djangoFolder(tree: SourceTree, packages: ReadonlySet<string>): string | undefined {
  // Others use the same name, such as Flask-Script.
  const manage = tree.read("manage.py");
  if (manage !== undefined && (manage.trim() === "" || /django/i.test(manage))) return "";
  if (!packages.has("django")) return undefined;
  const below = tree.list("").filter((name) => name.endsWith("/") && tree.has(`${name}manage.py`));
  const [only] = below;
  return below.length === 1 && plainName(only) !== undefined ? only : undefined;
}

/** `manage.py` names the settings, beside which the module for servers is. Commands run in the root. */
export function djangoStart(whole: SourceTree, packages: ReadonlySet<string>, place: string): PythonStart {
  const tree = inFolder(whole, place);
  const at = place.slice(0, -1);
  const manage = `${place}manage.py`;
  const named = /DJANGO_SETTINGS_MODULE["']\s*,\s*["']([\w.]+)["']/.exec(tree.read("manage.py") ?? "")?.[1];
  const project = plainName(named?.split(".settings")[0]?.replace(/\.(?:dev|local|prod|base)\w*$/, ""));
  const folder = project?.replaceAll(".", "/");
  const own = tree
    .list("")
    .filter((name) => name.endsWith("/") && tree.has(`${name}wsgi.py`))
    .map((name) => name.slice(0, -1));
  const module = folder !== undefined && tree.has(`${folder}/wsgi.py`) ? project : own[0];
  const home = (module ?? "").replaceAll(".", "/");
  const parts = tree.list(`${home}/settings`).filter((name) => name.endsWith(".py"));
  const settings = ["settings.py", ...parts.map((name) => `settings/${name}`)]
    .map((file) => tree.read(`${home}/${file}`) ?? "")
    .join("\n");
  const collects = /^[ \t]*STATIC_ROOT[ \t]*=/m.test(settings);
  const before = collects
    ? `RUN ${stand(settings)}python ${manage} collectstatic --noinput || echo 'collectstatic failed, so the image has no static files. A build has no config: give settings such as SECRET_KEY a default'`
    : undefined;
  // What manage.py names may be for developers: commands of the image take the settings for production beside it.
  const production = named === undefined ? undefined : productionSettings(tree, named);
  const env = production === undefined ? {} : { env: ` DJANGO_SETTINGS_MODULE=${production}` };
  const notes = [
    ...(production === undefined
      ? []
      : [`the settings are ${production}, beside ${named} of ${manage}; to use others, set DJANGO_SETTINGS_MODULE`]),
    `no migration runs by itself; to run them before each version, write release: { command: ["python", "${manage}", "migrate"] }`,
  ];
  if (module === undefined) {
    const note = `no wsgi.py was found beside ${manage}, so Django's own server is used, which is for developers; ${namesStart}`;
    return { framework: "django", words: ["python", manage, "runserver", bind], notes: [note], before };
  }
  const usesChannels = packages.has("channels") || packages.has("daphne");
  const hasAsgi = tree.has(`${module.replaceAll(".", "/")}/asgi.py`);
  const target = `${module}.${usesChannels && hasAsgi ? "asgi" : "wsgi"}:application`;
  if (usesChannels && hasAsgi)
    return {
      ...{ framework: "django", needs: ["uvicorn"], notes, before, ...env },
      words: ["uvicorn", target, ...(at === "" ? [] : ["--app-dir", at]), ...listening],
    };
  const change = at === "" ? [] : ["--chdir", at];
  return {
    ...{ framework: "django", needs: ["gunicorn"], notes, before, ...env },
    words: ["gunicorn", "--bind", bind, ...change, target],
  };
}

const asked =
  /(?:\benviron\[|\bgetenv\(|\benviron\.get\(|\b(?:env|config)(?:\.\w{1,20})?\()[ \t]{0,3}["']([A-Za-z]\w{1,60})["'][ \t]{0,3}[\])]/g;

/** Values that let settings be read in a build, which has no config; nothing of them stays in the image. */
function stand(settings: string): string {
  const names = new Set([...settings.matchAll(asked)].map(([, name = ""]) => name));
  const standFor = (name: string) => {
    if (/DATABASE_URL|DB_URL|POSTGRES_URL/i.test(name)) return "sqlite:///:memory:";
    if (/PORT$|SIZE|TIMEOUT|DAYS|MINUTES|HOURS|SECONDS|LIFETIME|MAX|LIMIT/i.test(name)) return "1";
    return /DEBUG|^USE_|ENABLE|_TLS$|_SSL$/i.test(name) ? "False" : "build";
  };
  return [...names]
    .slice(0, 40)
    .map((name) => `${name}=${standFor(name)} `)
    .join("");
}

function productionSettings(tree: SourceTree, named: string): string | undefined {
  const [, parent] = /^([\w.]{1,100})\.(?:local|dev|develop|development|base)$/.exec(named) ?? [];
  if (parent === undefined) return undefined;
  const found = ["production", "prod"].find((name) => tree.has(`${parent.replaceAll(".", "/")}/${name}.py`));
  return found === undefined ? undefined : `${parent}.${found}`;
}
