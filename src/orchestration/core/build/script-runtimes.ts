import { command, firstOf, jsonOf, lines, type Runtime, type SourceTree, versionIn } from "./runtime.ts";

interface Packager {
  lock: string | undefined;
  install: string;
  /** Runs a script of package.json. */
  run: string;
  /** Folder that is kept between builds. */
  prepare?: string;
}

function packagerOf(tree: SourceTree): Packager {
  if (tree.has("pnpm-lock.yaml")) {
    return {
      lock: "pnpm-lock.yaml",
      install: "pnpm install --frozen-lockfile",
      run: "pnpm run",
      prepare: "corepack enable",
    };
  }
  if (tree.has("yarn.lock")) {
    return {
      lock: "yarn.lock",
      install: "yarn install --frozen-lockfile",
      run: "yarn run",
      prepare: "corepack enable",
    };
  }
  if (tree.has("package-lock.json")) return { lock: "package-lock.json", install: "npm ci", run: "npm run" };
  return { lock: undefined, install: "npm install", run: "npm run" };
}

function scriptsOf(tree: SourceTree): Record<string, unknown> {
  const { scripts } = jsonOf(tree, "package.json");
  return typeof scripts === "object" && scripts !== null ? { ...scripts } : {};
}

/** The file that `main` names, or the usual ones. */
function mainOf(tree: SourceTree, usual: readonly string[]): string {
  const { main, module } = jsonOf(tree, "package.json");
  const named = [main, module].find((path): path is string => typeof path === "string" && tree.has(path));
  return named ?? firstOf(tree, usual) ?? usual[0] ?? "index.js";
}

const nodeFiles = ["server.js", "index.js", "app.js", "main.js", "src/index.js", "dist/index.js"];

const node: Runtime = {
  name: "node",
  port: 3000,
  mark: (tree) => firstOf(tree, ["package.json"]),
  dockerfile(tree, { version, entrypoint }) {
    const { lock, install, run, prepare } = packagerOf(tree);
    const scripts = scriptsOf(tree);
    const engines = jsonOf(tree, "package.json").engines as { node?: unknown } | undefined;
    const wanted =
      version ??
      versionIn(tree.read(".nvmrc"), /^v?(\d[\d.]*)/) ??
      versionIn(typeof engines?.node === "string" ? engines.node : "", /(\d+)/) ??
      "22";
    const start =
      entrypoint === undefined && scripts.start !== undefined
        ? command(...run.split(" "), "start")
        : command("node", entrypoint ?? mainOf(tree, nodeFiles));
    return lines(
      `ARG BASE=node:${wanted}-slim`,
      "FROM ${BASE}",
      "WORKDIR /app",
      prepare && `RUN ${prepare}`,
      `COPY package.json ${lock ?? ""} ./`.replace("  ", " "),
      `RUN ${install}`,
      "COPY . .",
      scripts.build !== undefined && `RUN ${run} build`,
      "ENV NODE_ENV=production PORT=3000",
      "USER node",
      "EXPOSE 3000",
      start,
    );
  },
};

const bun: Runtime = {
  name: "bun",
  port: 3000,
  mark: (tree) => {
    const { packageManager } = jsonOf(tree, "package.json");
    const isNamed = typeof packageManager === "string" && packageManager.startsWith("bun@");
    return isNamed ? "package.json" : firstOf(tree, ["bun.lock", "bun.lockb"]);
  },
  dockerfile(tree, { version = "1", entrypoint }) {
    const scripts = scriptsOf(tree);
    const lock = firstOf(tree, ["bun.lock", "bun.lockb"]);
    const start =
      entrypoint === undefined && scripts.start !== undefined
        ? command("bun", "run", "start")
        : command("bun", entrypoint ?? mainOf(tree, ["index.ts", "src/index.ts", "server.ts", "index.js"]));
    return lines(
      `ARG BASE=oven/bun:${version}`,
      "FROM ${BASE}",
      "WORKDIR /app",
      `COPY package.json${lock === undefined ? "" : ` ${lock}`} ./`,
      `RUN bun install${lock === undefined ? "" : " --frozen-lockfile"}`,
      "COPY . .",
      scripts.build !== undefined && "RUN bun run build",
      "ENV NODE_ENV=production PORT=3000",
      "USER bun",
      "EXPOSE 3000",
      start,
    );
  },
};

const deno: Runtime = {
  name: "deno",
  port: 8000,
  mark: (tree) => firstOf(tree, ["deno.json", "deno.jsonc", "deno.lock"]),
  dockerfile(tree, { version, entrypoint }) {
    const file = entrypoint ?? firstOf(tree, ["main.ts", "server.ts", "mod.ts", "main.js"]) ?? "main.ts";
    return lines(
      `ARG BASE=denoland/deno:${version ?? "latest"}`,
      "FROM ${BASE}",
      "WORKDIR /app",
      "COPY . .",
      `RUN deno cache ${file}`,
      "ENV PORT=8000",
      "USER deno",
      "EXPOSE 8000",
      command("deno", "run", "--allow-net", "--allow-env", "--allow-read", file),
    );
  },
};

const pythonFiles = ["main.py", "app.py", "server.py", "manage.py"];

const python: Runtime = {
  name: "python",
  port: 8000,
  mark: (tree) => firstOf(tree, ["requirements.txt", "pyproject.toml", "Pipfile"]),
  dockerfile(tree, { version, entrypoint }) {
    const wanted = version ?? versionIn(tree.read(".python-version"), /^(\d[\d.]*)/) ?? "3.13";
    const [copy, install] = pythonInstall(tree);
    const isDjango = tree.has("manage.py");
    const start = isDjango
      ? command("python", "manage.py", "runserver", "0.0.0.0:8000")
      : command("python", entrypoint ?? firstOf(tree, pythonFiles) ?? "main.py");
    return lines(
      `ARG BASE=python:${wanted}-slim`,
      "FROM ${BASE}",
      "WORKDIR /app",
      "ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PORT=8000",
      copy,
      install,
      "COPY . .",
      "RUN useradd --no-create-home app",
      "USER app",
      "EXPOSE 8000",
      entrypoint === undefined ? start : command("python", entrypoint),
    );
  },
};

function pythonInstall(tree: SourceTree): [string, string] {
  if (tree.has("uv.lock")) {
    return [
      "COPY pyproject.toml uv.lock ./",
      "RUN pip install --no-cache-dir uv && uv sync --frozen --no-install-project\nENV PATH=/app/.venv/bin:$PATH",
    ];
  }
  if (tree.has("poetry.lock")) {
    return [
      "COPY pyproject.toml poetry.lock ./",
      "RUN pip install --no-cache-dir poetry && poetry config virtualenvs.create false && poetry install --only main --no-root",
    ];
  }
  if (tree.has("Pipfile")) {
    return [
      `COPY Pipfile ${tree.has("Pipfile.lock") ? "Pipfile.lock " : ""}./`,
      "RUN pip install --no-cache-dir pipenv && pipenv install --system --deploy",
    ];
  }
  if (tree.has("requirements.txt"))
    return ["COPY requirements.txt ./", "RUN pip install --no-cache-dir -r requirements.txt"];
  return ["COPY . .", "RUN pip install --no-cache-dir ."];
}

const ruby: Runtime = {
  name: "ruby",
  port: 9292,
  mark: (tree) => firstOf(tree, ["Gemfile"]),
  dockerfile(tree, { version, entrypoint }) {
    const wanted =
      version ??
      versionIn(tree.read(".ruby-version"), /^(?:ruby-)?(\d[\d.]*)/) ??
      versionIn(tree.read("Gemfile"), /^\s*ruby ["'](\d[\d.]*)["']/m) ??
      "3.4";
    const isRails = tree.has("config/application.rb");
    const port = isRails ? 3000 : 9292;
    const start =
      entrypoint !== undefined
        ? command("bundle", "exec", "ruby", entrypoint)
        : isRails
          ? command("bundle", "exec", "puma", "-p", "3000")
          : tree.has("config.ru")
            ? command("bundle", "exec", "rackup", "-o", "0.0.0.0", "-p", "9292")
            : command("bundle", "exec", "ruby", firstOf(tree, ["app.rb", "main.rb"]) ?? "app.rb");
    return lines(
      `ARG BASE=ruby:${wanted}-slim`,
      "FROM ${BASE}",
      "WORKDIR /app",
      "RUN apt-get update && apt-get install -y --no-install-recommends build-essential git libpq-dev libyaml-dev && rm -rf /var/lib/apt/lists/*",
      `COPY Gemfile${tree.has("Gemfile.lock") ? " Gemfile.lock" : ""} ./`,
      "RUN bundle config set without development:test && bundle install",
      "COPY . .",
      isRails && "ENV RAILS_ENV=production RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1",
      isRails && "RUN SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile",
      `ENV PORT=${port}`,
      "RUN useradd --no-create-home app && chown -R app /app",
      "USER app",
      `EXPOSE ${port}`,
      start,
    );
  },
};

const php: Runtime = {
  name: "php",
  port: 80,
  mark: (tree) => firstOf(tree, ["composer.json", "index.php", "public/index.php"]),
  dockerfile(tree, { version = "8.4" }) {
    const root = tree.has("public/index.php") ? "/var/www/html/public" : "/var/www/html";
    return lines(
      `ARG BASE=php:${version}-apache`,
      "FROM ${BASE}",
      `ENV APACHE_DOCUMENT_ROOT=${root}`,
      "RUN a2enmod rewrite && sed -ri 's!/var/www/html!${APACHE_DOCUMENT_ROOT}!g' /etc/apache2/sites-available/*.conf",
      tree.has("composer.json") && "COPY --from=composer:2 /usr/bin/composer /usr/bin/composer",
      tree.has("composer.json") && `COPY composer.json${tree.has("composer.lock") ? " composer.lock" : ""} ./`,
      tree.has("composer.json") && "RUN composer install --no-dev --no-scripts --no-interaction",
      "COPY . .",
      "EXPOSE 80",
    );
  },
};

/** Languages whose programs run from their source. More particular ones come first. */
export const scriptRuntimes: readonly Runtime[] = [bun, deno, node, python, ruby, php];
