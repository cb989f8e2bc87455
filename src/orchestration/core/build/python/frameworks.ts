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

const bind = "0.0.0.0:8000";
const listening = ["--host", "0.0.0.0", "--port", "8000"];
const usualFiles = [
  "main.py",
  "app.py",
  "server.py",
  "wsgi.py",
  "asgi.py",
  "application.py",
  "run.py",
  "api.py",
  "bot.py",
  "__main__.py",
];
const filesReadMax = 40;

/** Python files of the folder itself that could start something. */
export function rootFiles(tree: SourceTree): string[] {
  return usualFiles.filter((file) => tree.has(file));
}

/** The usual places first, then the packages of the folder and of src. */
function candidates(tree: SourceTree): string[] {
  const packages = ["", "src/"].flatMap((parent) =>
    tree
      .list(parent.replace(/\/$/, ""))
      .filter(
        (name) => name.endsWith("/") && !/^(?:tests?|docs|venv|\.|node_modules|static|templates|migrations)/.test(name),
      )
      .map((name) => parent + name),
  );
  const inside = packages.flatMap((folder) => [...usualFiles, "__init__.py"].map((file) => folder + file));
  const others = tree.list("").filter((name) => name.endsWith(".py") && !usualFiles.includes(name));
  return [...usualFiles, ...inside, ...others].filter((file) => tree.has(file)).slice(0, filesReadMax);
}

interface Made {
  file: string;
  /** Words of gunicorn and uvicorn: `app.main:app`. */
  target: string;
}

/** Where an app is made: `app = FastAPI()`, or `def create_app(`. */
function whereMade(tree: SourceTree, maker: string): Made | undefined {
  const assigned = new RegExp(String.raw`^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:\w+\.)?(?:${maker})\(`, "m");
  let factory: Made | undefined;
  for (const file of candidates(tree)) {
    const text = tree.read(file) ?? "";
    const module = moduleOf(file);
    if (module === undefined) continue;
    const variable = assigned.exec(text)?.[1];
    if (variable !== undefined) return { file, target: `${module}:${variable}` };
    const makes = /^def (create_app|make_app|get_app|build_app)\(/m.exec(text)?.[1];
    const calls = /^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:create_app|make_app|get_app|build_app)\(/m.exec(text)?.[1];
    if (calls !== undefined) return { file, target: `${module}:${calls}` };
    if (makes !== undefined) factory ??= { file, target: `${module}:${makes}()` };
  }
  return factory;
}

/** `app/main.py` → `app.main`. Programs run in the folder, so that a module of src has src in its name. */
function moduleOf(file: string): string | undefined {
  const module = file
    .replace(/\.py$/, "")
    .replace(/\/__init__$/, "")
    .replaceAll("/", ".");
  return /^\w+(?:\.\w+)*$/.test(module) ? module : undefined;
}

/** Undefined where nothing shows how it starts. */
export function pythonStart(tree: SourceTree, packages: ReadonlySet<string>): PythonStart | undefined {
  const project = djangoFolder(tree, packages);
  if (project !== undefined) return djangoStart(tree, packages, project);
  for (const { name, packages: needed, start } of frameworks) {
    if (!needed.some((one) => packages.has(one))) continue;
    const found = start(tree, packages);
    if (found !== undefined) return { framework: name, ...found };
  }
  const [file] = rootFiles(tree);
  return file === undefined ? undefined : { words: ["python", file] };
}

interface Framework {
  name: string;
  packages: string[];
  start(tree: SourceTree, packages: ReadonlySet<string>): PythonStart | undefined;
}

const asgi =
  (maker: string) =>
  (tree: SourceTree, packages: ReadonlySet<string>): PythonStart | undefined => {
    const made = whereMade(tree, maker);
    if (made === undefined) return undefined;
    const isFactory = made.target.endsWith("()");
    const words = ["uvicorn", made.target.replace("()", ""), ...(isFactory ? ["--factory"] : []), ...listening];
    // It brings uvicorn in its usual set.
    return {
      words,
      needs: packages.has("fastapi") && packages.has("fastapi-cli") ? [] : ["uvicorn"],
      notes: [startNote(made)],
    };
  };

const wsgi =
  (maker: string) =>
  (tree: SourceTree): PythonStart | undefined => {
    const made = whereMade(tree, maker);
    if (made === undefined) return undefined;
    return { words: ["gunicorn", "--bind", bind, made.target], needs: ["gunicorn"], notes: [startNote(made)] };
  };

function startNote({ file, target }: Made): string {
  return `the app is ${target} of ${file}; ${namesStart}`;
}

const ownPrograms =
  (env: string, uses: RegExp, words: (file: string) => string[]) =>
  (tree: SourceTree): PythonStart | undefined => {
    const usual = ["streamlit_app.py", "Home.py", "app.py", "main.py", ...rootFiles(tree)].filter((one) =>
      tree.has(one),
    );
    const [file, ...others] = [...new Set([...usual, ...candidates(tree)])].filter((one) =>
      uses.test(tree.read(one) ?? ""),
    );
    const found = file ?? usual[0];
    const beside = others.filter((one) => !one.includes("/") && usualFiles.includes(one));
    const note = `of several files that could start, ${found} is started, and not ${beside.join(", ")}; ${namesStart}`;
    if (found === undefined) return undefined;
    return { words: words(found), env, ...(beside.length === 0 ? {} : { notes: [note] }) };
  };

const frameworks: readonly Framework[] = [
  {
    name: "streamlit",
    packages: ["streamlit"],
    start: ownPrograms("", /^[ \t]*(?:import|from) streamlit\b/m, (file) => [
      ...[
        "streamlit",
        "run",
        file,
        "--server.address",
        "0.0.0.0",
        "--server.port",
        "8000",
        "--server.headless",
        "true",
      ],
    ]),
  },
  {
    name: "gradio",
    packages: ["gradio"],
    start: ownPrograms(
      " GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=8000",
      /^[ \t]*(?:import|from) gradio\b/m,
      (file) => ["python", file],
    ),
  },
  {
    name: "fastapi",
    packages: ["fastapi", "starlette", "litestar", "quart"],
    start: asgi("FastAPI|Starlette|Litestar|Quart"),
  },
  { name: "dash", packages: ["dash"], start: dashStart },
  { name: "flask", packages: ["flask", "bottle", "falcon"], start: wsgi("Flask|APIFlask|OpenAPI|Bottle|App") },
];

/** Dash serves by the Flask app inside of it, where the file gives that a name; else by its own server. */
function dashStart(tree: SourceTree): PythonStart | undefined {
  const made = whereMade(tree, "Dash");
  if (made === undefined) return undefined;
  const server = /^(\w+)\s*=\s*\w+\.server\b/m.exec(tree.read(made.file) ?? "")?.[1];
  if (server === undefined) {
    const note = `${made.file} names no server (server = app.server), so Dash's own is used, which is for developers`;
    return { words: ["python", made.file], env: " HOST=0.0.0.0", notes: [note] };
  }
  const target = `${made.target.split(":")[0]}:${server}`;
  return { words: ["gunicorn", "--bind", bind, target], needs: ["gunicorn"], notes: [startNote({ ...made, target })] };
}

/** The folder of `manage.py`, with a slash at its end: the root, or the only one below it that has one. */
function djangoFolder(tree: SourceTree, packages: ReadonlySet<string>): string | undefined {
  // Others use the same name, such as Flask-Script.
  const manage = tree.read("manage.py");
  if (manage !== undefined && (manage.trim() === "" || /django/i.test(manage))) return "";
  if (!packages.has("django")) return undefined;
  const below = tree.list("").filter((name) => name.endsWith("/") && tree.has(`${name}manage.py`));
  const [only] = below;
  return below.length === 1 && plainName(only) !== undefined ? only : undefined;
}

/** `manage.py` names the settings, beside which the module for servers is. Commands run in the root. */
function djangoStart(whole: SourceTree, packages: ReadonlySet<string>, place: string): PythonStart {
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
  const settings = ["settings.py", "settings/__init__.py", "settings/base.py", "settings/production.py"]
    .map((file) => tree.read(`${(module ?? "").replaceAll(".", "/")}/${file}`) ?? "")
    .join("\n");
  const collects = /^[ \t]*STATIC_ROOT[ \t]*=/m.test(settings);
  const before = collects
    ? `RUN python ${manage} collectstatic --noinput || echo 'collectstatic failed, so the image has no static files. A build has no config: give settings such as SECRET_KEY a default'`
    : undefined;
  const notes = [
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
      ...{ framework: "django", needs: ["uvicorn"], notes, before },
      words: ["uvicorn", target, ...(at === "" ? [] : ["--app-dir", at]), ...listening],
    };
  const change = at === "" ? [] : ["--chdir", at];
  return {
    ...{ framework: "django", needs: ["gunicorn"], notes, before },
    words: ["gunicorn", "--bind", bind, ...change, target],
  };
}
