import { namesStart, type SourceTree } from "../runtime.ts";
import { bind, djangoFolder, djangoStart, listening, type PythonStart } from "./django.ts";
import { socketWords } from "./packages.ts";

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
  const deeper = packages.flatMap((folder) =>
    tree
      .list(folder.slice(0, -1))
      .filter((name) => /^\w+\/$/.test(name) && !/^(?:tests?|migrations|static|templates)\//.test(name))
      .flatMap((name) => usualFiles.map((file) => folder + name + file)),
  );
  const others = tree.list("").filter((name) => name.endsWith(".py") && !usualFiles.includes(name));
  return [...usualFiles, ...inside, ...others, ...deeper].filter((file) => tree.has(file)).slice(0, filesReadMax);
}

interface Made {
  file: string;
  /** Words of gunicorn and uvicorn: `app.main:app`. */
  target: string;
  /** The folder whose modules the file imports by their own names; empty where that is the root. */
  within: string;
}

/** What makes an app of any framework. */
const makesAny = /\b(?:FastAPI|Starlette|Litestar|Quart|Flask|APIFlask|Bottle|Dash)\(/;

/** Where an app is made: `app = FastAPI()`, or `def create_app(`. */
function whereMade(tree: SourceTree, maker: string): Made | undefined {
  const makes = new RegExp(String.raw`(?:^|[^\w.])(?:\w+\.)?(?:${maker})\(`, "m");
  const assigned = new RegExp(String.raw`^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:\w+\.)?(?:${maker})\(`, "m");
  let factory: Made | undefined;
  for (const file of candidates(tree)) {
    const text = tree.read(file) ?? "";
    const within = importsWithin(tree, file, text);
    const module = moduleOf(file.slice(within.length));
    if (module === undefined) continue;
    const variable = assigned.exec(text)?.[1] ?? calledIn(text, makes);
    if (variable !== undefined) return { file, target: `${module}:${variable}`, within };
    const made = /^def (create_app|make_app|get_app|build_app|create_application|app_factory)\(/m.exec(text)?.[1];
    if (made !== undefined && (makes.test(text) || !makesAny.test(text)))
      factory ??= { file, target: `${module}:${made}()`, within };
  }
  return factory;
}

/** A variable that a function of the file, or one with the name of a factory, gives: `app = start_application()`. */
function calledIn(text: string, makes: RegExp): string | undefined {
  const found = text.matchAll(/^(\w{1,60})[ \t]{0,9}(?::[ \t]{0,9}[\w.]{1,60}[ \t]{0,9})?=[ \t]{0,9}(\w{1,60})\(/gm);
  for (const [, variable = "", called = ""] of found) {
    const isFactory = /^(?:create|make|get|build|init|start|setup)_(?:\w{1,30}_)?(?:app|application|api|server)$/.test(
      called,
    );
    if (isFactory && /^(?:\w{1,30}_)?(?:app|application|api|server)$/.test(variable)) {
      const isOwn = text.includes(`def ${called}(`);
      if (!isOwn || makes.test(text)) return variable;
    }
  }
  return undefined;
}

/** `src/` where a file below it imports what lies there, and not at the root, by its own name. */
function importsWithin(tree: SourceTree, file: string, text: string): string {
  const parts = file.split("/").slice(0, -1);
  const isThere = (at: string, name: string) => tree.has(`${at}${name}.py`) || tree.list(at + name).length > 0;
  const names = [...text.matchAll(/^(?:from|import)[ \t]{1,9}(\w{1,60})\b/gm)].map(([, name = ""]) => name);
  const folders = parts.map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
  const isBelow = (folder: string) => names.some((name) => isThere(folder, name) && !isThere("", name));
  return folders.find((folder) => /^[\w/]+$/.test(folder) && isBelow(folder)) ?? "";
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
  // A folder may ask for more frameworks than its files use.
  const texts = candidates(tree).map((file) => tree.read(file) ?? "");
  const uses = (names: string[]) => {
    const oneOf = names.join("|");
    return texts.some((text) => new RegExp(String.raw`^[ \t]*(?:from|import)[ \t]+(?:${oneOf})\b`, "m").test(text));
  };
  const used = frameworks.filter(({ packages: names }) => uses(names));
  for (const { name, packages: needed, start } of used.length === 0 ? frameworks : used) {
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
    const target = made.target.replace("()", "");
    const at = made.within.slice(0, -1);
    const place = at === "src" ? ["--app-dir", at] : [];
    const plain = ["uvicorn", target, ...(isFactory ? ["--factory"] : []), ...place, ...listening];
    // Files that import each other by their own names are started in their folder, where relative paths begin too.
    const words = at === "" || place.length > 0 ? plain : ["sh", "-c", `cd ${at} && exec ${plain.join(" ")}`];
    // It brings uvicorn in its usual set.
    return {
      words,
      needs: packages.has("fastapi") && packages.has("fastapi-cli") ? [] : ["uvicorn"],
      notes: [startNote(made)],
    };
  };

const wsgi =
  (maker: string) =>
  (tree: SourceTree, packages: ReadonlySet<string>): PythonStart | undefined => {
    const made = whereMade(tree, maker);
    if (made === undefined) return undefined;
    const place = made.within === "" ? [] : ["--chdir", made.within.slice(0, -1)];
    const words = ["gunicorn", "--bind", bind, ...socketWords(packages), ...place, made.target];
    return { words, needs: ["gunicorn"], notes: [startNote(made)] };
  };

function startNote({ file, target }: Pick<Made, "file" | "target">): string {
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
  { name: "falcon", packages: ["falcon"], start: falconStart },
  { name: "flask", packages: ["flask", "bottle"], start: wsgi("Flask|APIFlask|OpenAPI|Bottle") },
];

/** Falcon is made for one of both servers, by the module that the class is of. */
function falconStart(tree: SourceTree, packages: ReadonlySet<string>): PythonStart | undefined {
  const isAsync = candidates(tree).some((file) => /\bfalcon\.asgi\b/.test(tree.read(file) ?? ""));
  const makers = "(?:falcon\\.)?(?:asgi\\.)?(?:App|API)";
  return isAsync ? asgi(makers)(tree, packages) : wsgi(makers)(tree, packages);
}

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
  const place = made.within === "" ? [] : ["--chdir", made.within.slice(0, -1)];
  return {
    words: ["gunicorn", "--bind", bind, ...place, target],
    needs: ["gunicorn"],
    notes: [startNote({ file: made.file, target })],
  };
}
