import { hintedVersion, readHints } from "../hints/hints.ts";
import { aptLine, firstOf, newestIn, type SourceTree, versionIn } from "../runtime.ts";

const requirementFiles = [
  "requirements.txt",
  "requirements/production.txt",
  "requirements/prod.txt",
  "requirements/base.txt",
];

/** The file of requirements that another platform installs, as in `pip install -r api/requirements.txt`. */
function hintedFile(tree: SourceTree): string | undefined {
  const build = readHints(tree).build?.value ?? "";
  const named = /\bpip3? install (?:-[\w-]+ ){0,3}?-r (?:\.\/)?([\w./-]+\.txt)\b/.exec(build.slice(0, 2000))?.[1];
  return named !== undefined && !named.includes("..") && tree.has(named) ? named : undefined;
}

function requirementFile(tree: SourceTree): string | undefined {
  return hintedFile(tree) ?? firstOf(tree, requirementFiles);
}

/** The file that names what a Python program needs. */
export function packageFile(tree: SourceTree): string | undefined {
  return requirementFile(tree) ?? firstOf(tree, ["pyproject.toml", "Pipfile", "setup.py"]);
}

/** FastAPI with one of these extras installs uvicorn: `fastapi[standard]`, and `fastapi = {extras = ["standard"]}`. */
const bringsServer = /\bfastapi(?:\[|[ \t]*=[ \t]*\{[^}\n]*extras[ \t]*=[ \t]*\[)[\w"', -]*\b(?:standard|all)\b/i;

/** Names of the packages that the folder asks for, in lower case with hyphens. */
export function pythonPackages(tree: SourceTree): ReadonlySet<string> {
  const files = [hintedFile(tree) ?? "", ...requirementFiles, "pyproject.toml", "Pipfile", "setup.py"];
  const text = files.map((file) => withIncludes(tree, file).replaceAll(/(?:^|[ \t])#.*$/gm, "")).join("\n");
  const names = [
    ...text.matchAll(/(?:^|["'[,])[ \t]*([A-Za-z][\w.-]*)(?=[ \t]*(?:\[[\w, -]*\][ \t]*)?(?:[<>=!~;@"',]|$))/gm),
  ];
  const found = new Set(names.map(([, name = ""]) => name.toLowerCase().replaceAll(/[_.]/g, "-")));
  return bringsServer.test(text) ? found.add("uvicorn") : found;
}

/** Where nothing is asked for: older packages use modules that a newer one does not have. */
const usual = "3.12";
/** The newest last: it is for programs that take no other. */
const known = ["3.13", "3.12", "3.11", "3.10", "3.9", "3.8", "3.14"];

export function pythonVersion(tree: SourceTree): string {
  const exact =
    versionIn(tree.read(".python-version"), /^\s*(?:python-)?(\d+(?:\.\d+){0,2})/) ??
    versionIn(tree.read("runtime.txt"), /^\s*python-(\d+(?:\.\d+){0,2})/);
  if (exact !== undefined) return exact;
  const hinted = hintedVersion(tree, "PYTHON_VERSION", "NIXPACKS_PYTHON_VERSION");
  // Its last patch, as images have it.
  if (hinted !== undefined) return hinted.split(".").slice(0, 2).join(".");
  const project = tree.read("pyproject.toml") ?? "";
  const range =
    /^[ \t]*requires-python[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(project)?.[1] ??
    /^[ \t]*python[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(project)?.[1] ??
    /^[ \t]*python_version[ \t]*=[ \t]*["']([^"'\n]+)["']/m.exec(tree.read("Pipfile") ?? "")?.[1];
  return newestIn(range, known) ?? byPins(tree) ?? usual;
}

/** For a newer Python the first version of a package that works there: `PYTHON:FIRST`, the newest Python first. */
const firstFor: Readonly<Record<string, string>> = {
  django: "3.12:4.2 3.11:4.1 3.10:3.2.9 3.9:2.2",
  numpy: "3.12:1.26 3.11:1.23.2 3.10:1.21.3 3.9:1.19.3",
  pandas: "3.12:2.1.1 3.11:1.5.1 3.10:1.3.3 3.9:1.1.3",
  jinja2: "3.12:2.11 3.9:2.0",
  sqlalchemy: "3.12:1.4 3.10:1.3 3.9:1.2",
  markupsafe: "3.12:1.1",
  pydantic: "3.12:1.10.13 3.11:1.10 3.10:1.8",
  greenlet: "3.12:3.0 3.11:2.0 3.10:1.1",
  pyyaml: "3.12:6.0.1 3.11:6.0 3.9:5.3",
  aiohttp: "3.12:3.9 3.11:3.8.3 3.10:3.8 3.9:3.7",
  pillow: "3.12:10.1 3.11:9.3 3.10:8.3.2 3.9:8.0",
  "scikit-learn": "3.12:1.3.1 3.11:1.2 3.10:1.0.2 3.9:0.24",
  scipy: "3.12:1.11.2 3.11:1.9.2 3.10:1.7.2 3.9:1.5.3",
  matplotlib: "3.12:3.8 3.11:3.6 3.10:3.5 3.9:3.3.3",
  tensorflow: "3.12:2.16 3.11:2.12 3.10:2.8 3.9:2.5",
  torch: "3.12:2.2 3.11:2.0 3.10:1.11 3.9:1.8",
  asyncpg: "3.12:0.29 3.11:0.27 3.10:0.25",
  cffi: "3.12:1.16 3.11:1.15.1 3.10:1.15",
  grpcio: "3.12:1.59 3.11:1.49.1 3.10:1.41",
  lxml: "3.12:4.9.3 3.11:4.9.1 3.10:4.6.4",
  "backports.zoneinfo": "3.8:0.1",
  pony: "3.12:0.7.17 3.11:0.7.16 3.10:0.7.15 3.9:0.7.14",
  "psycopg2-binary": "3.12:2.9.9 3.11:2.9.5 3.10:2.9.2 3.9:2.8.6",
};

/** The newest Python that the pinned packages (`numpy==1.23.5`) know; undefined where no pin says something. */
function byPins(tree: SourceTree): string | undefined {
  const text = withIncludes(tree, requirementFile(tree) ?? "");
  const found = Object.entries(firstFor).flatMap(([name, firsts]) => {
    const pin = new RegExp(`^[ \\t]*${name}[ \\t]*==[ \\t]*(\\d+(?:\\.\\d+){0,2})`, "im").exec(text)?.[1];
    if (pin === undefined) return [];
    const pairs = firsts.split(" ").map((pair) => pair.split(":"));
    return [pairs.find(([, first]) => newestIn(`>=${first}`, [whole(pin)]) !== undefined)?.[0] ?? "3.8"];
  });
  return [...known].reverse().find((version) => found.includes(version));
}

/** A file of requirements with those that it names by `-r`. */
function withIncludes(tree: SourceTree, file: string, deep = 0): string {
  const text = textOf(tree, file);
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  const more = [...text.matchAll(/^[ \t]*(?:-r|--requirement)[ \t=]{1,3}(?:\.\/)?([\w./-]{1,100})/gm)].map(
    ([, name = ""]) => name,
  );
  const included = deep > 3 ? [] : more.slice(0, 10).filter((name) => !name.includes(".."));
  return [text, ...included.map((name) => withIncludes(tree, folder + name, deep + 1))].join("\n");
}

function whole(version: string): string {
  return [...version.split("."), "0", "0"].slice(0, 3).join(".");
}

/** Made on Windows, a file has other line ends, or two bytes a character. */
function textOf(tree: SourceTree, file: string): string {
  return (tree.read(file) ?? "").replaceAll(/[\r\0\uFFFD]/g, "");
}

/** What shows that the program is for Python 2, which has had no image for years. */
export function isPython2(tree: SourceTree, files: readonly string[]): boolean {
  const old = /^[ \t]*(?:print[ \t]+["'\w]|except \w{1,60}, \w{1,60}:|import urllib2\b|from urlparse\b)/m;
  return (
    /^wsgiref\b/m.test(textOf(tree, requirementFile(tree) ?? "")) ||
    files.some((file) => old.test((tree.read(file) ?? "").slice(0, 64 * 1024)))
  );
}

/** A line that names a file of another machine, which no other can install. */
export function foreignLine(tree: SourceTree): string | undefined {
  const file = requirementFile(tree);
  if (file === undefined) return undefined;
  const line = /^[^#\n]{0,200}file:\/\/\/(?:[A-Za-z]:|home|Users|opt|tmp|private|croot)[^\n]{0,300}$/m.exec(
    textOf(tree, file),
  )?.[0];
  return line === undefined ? undefined : `${file} names a file of another machine ("${line.slice(0, 80)}")`;
}

/** What a package needs of Debian: to build it where it has no wheel, or to run it. */
const libraries: Readonly<Record<string, string[]>> = {
  psycopg2: ["gcc", "libpq-dev"],
  mysqlclient: ["default-libmysqlclient-dev", "gcc", "pkg-config"],
  "opencv-python": ["libgl1", "libglib2.0-0"],
  "opencv-contrib-python": ["libgl1", "libglib2.0-0"],
  pytesseract: ["tesseract-ocr"],
  pdf2image: ["poppler-utils"],
  pyzbar: ["libzbar0"],
  "python-magic": ["libmagic1"],
  lightgbm: ["libgomp1"],
  weasyprint: ["libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0"],
  cairosvg: ["libcairo2"],
  pylibmc: ["gcc", "libmemcached-dev", "zlib1g-dev"],
  uwsgi: ["gcc"],
  "python-ldap": ["gcc", "libldap2-dev", "libsasl2-dev"],
  pyodbc: ["gcc", "unixodbc-dev"],
  dlib: ["cmake", "g++", "make"],
  "face-recognition": ["cmake", "g++", "make"],
  pycairo: ["gcc", "libcairo2-dev", "pkg-config"],
  pyaudio: ["gcc", "portaudio19-dev"],
  netifaces: ["gcc"],
  "ffmpeg-python": ["ffmpeg"],
  "openai-whisper": ["ffmpeg"],
  "yt-dlp": ["ffmpeg"],
  pypandoc: ["pandoc"],
  graphviz: ["graphviz"],
  pdfkit: ["wkhtmltopdf"],
  gitpython: ["git"],
  selenium: ["chromium", "chromium-driver"],
  pydub: ["ffmpeg"],
  moviepy: ["ffmpeg"],
};

/** Lines that install what the folder asks for, and `more` beside it. */
export function installLines(
  tree: SourceTree,
  packages: ReadonlySet<string>,
  more: readonly string[],
): (string | undefined)[] {
  // What another platform's file names is there already.
  const named = new Set(readHints(tree).packages.flatMap(({ value }) => value));
  const own = [...requirementFiles, "pyproject.toml", "Pipfile"].map((file) => withIncludes(tree, file)).join("\n");
  const compilesPsycopg = /\bpsycopg\[[\w,]{0,20}\bc\b/.test(own);
  const fetches = [...requirementFiles, "pyproject.toml", "Pipfile", "setup.py"].some((file) =>
    /\bgit\+(?:https|ssh):|\bgit\s*=\s*["']https:/.test(tree.read(file) ?? ""),
  );
  const apt = [
    ...new Set([
      ...Object.entries(libraries).flatMap(([name, needs]) => (packages.has(name) ? needs : [])),
      ...(fetches ? ["git"] : []),
      ...(compilesPsycopg ? ["gcc", "libpq-dev"] : []),
    ]),
  ].filter((name) => !named.has(name));
  // The environment of uv has no pip of its own.
  const add = tree.has("uv.lock") && hintedFile(tree) === undefined ? "uv pip install" : "pip install --no-cache-dir";
  return [
    aptLine(...apt.toSorted()),
    ...ownLines(tree),
    more.length === 0 ? undefined : `RUN ${add} ${more.join(" ")}`,
    ...(packages.has("playwright")
      ? ["ENV PLAYWRIGHT_BROWSERS_PATH=/opt/browsers", "RUN playwright install --with-deps chromium"]
      : []),
  ];
}

function ownLines(tree: SourceTree): string[] {
  const hinted = hintedFile(tree) !== undefined;
  if (tree.has("uv.lock") && !hinted) {
    return [
      "COPY pyproject.toml uv.lock ./",
      "RUN pip install --no-cache-dir uv && uv sync --frozen --no-install-project",
      "ENV PATH=/app/.venv/bin:$PATH VIRTUAL_ENV=/app/.venv",
    ];
  }
  if (tree.has("poetry.lock") && !hinted) {
    return [
      "COPY pyproject.toml poetry.lock ./",
      "RUN pip install --no-cache-dir poetry && poetry config virtualenvs.create false && poetry install --only main --no-root",
    ];
  }
  const lock = tree.has("Pipfile.lock");
  if (tree.has("Pipfile") && !hinted && (lock || requirementFile(tree) === undefined)) {
    return [
      `COPY Pipfile ${lock ? "Pipfile.lock " : ""}./`,
      `RUN pip install --no-cache-dir pipenv && pipenv install --system${lock ? " --deploy" : " --skip-lock"}`,
    ];
  }
  const file = requirementFile(tree);
  if (file === undefined)
    return packageFile(tree) === undefined ? [] : ["COPY . .", "RUN pip install --no-cache-dir ."];
  // Another file or a folder that it names has to be there.
  const text = tree.read(file) ?? "";
  const needsMore = /^[ \t]*(?:-r|-c|-e|--requirement|--constraint|--editable|\.|file:)/m.test(text);
  return [
    needsMore ? "COPY . ." : `COPY ${file} ./${file.includes("/") ? file : ""}`,
    `RUN pip install --no-cache-dir -r ${file}`,
  ];
}

/** Flask-SocketIO asks for one worker, of the kind that its packages bring. */
export function socketWords(packages: ReadonlySet<string>): string[] {
  if (!packages.has("flask-socketio")) return [];
  if (packages.has("eventlet")) return ["--worker-class", "eventlet", "--workers", "1"];
  if (packages.has("gevent-websocket"))
    return ["--worker-class", "geventwebsocket.gunicorn.workers.GeventWebSocketWorker", "--workers", "1"];
  return ["--workers", "1", "--threads", "100"];
}
