import { hintedStart, hintedVersion } from "./hints/hints.ts";
import { packagerOf } from "./node/packager.ts";
import { readPackage } from "./node/package-json.ts";
import { gemLibraries, hasGem } from "./gems.ts";
import { pagesBase, servedByNginx, servePages } from "./pages.ts";
import {
  aptLine,
  command,
  firstOf,
  type LanguageChoice,
  lines,
  newestIn,
  type Plan,
  plainName,
  type Runtime,
  type SourceTree,
  versionIn,
} from "./runtime.ts";

const known = ["3.4", "3.3", "3.2", "3.1", "3.0", "2.7", "2.6", "2.5", "2.3"];

/** The newest Ruby that runs what the lock file was made with: an old Rails or Bundler fails on a newer one. */
function byLock(tree: SourceTree): string | undefined {
  const lock = tree.read("Gemfile.lock") ?? "";
  const exact = versionIn(lock, /^RUBY VERSION\s+ruby (\d+\.\d+\.\d+)/m);
  if (exact !== undefined) return exact;
  // They count with a class that Ruby 2.4 took away: json until 1.8.3, Active Support until 4.2.7.
  if (
    /^ {4}(?:json \(1\.[0-7]\.|json \(1\.8\.[0-3]\)|activesupport \((?:3|4\.[01])\.|activesupport \(4\.2\.[0-7]\b)/m.test(
      lock,
    )
  )
    return "2.3";
  const [major, minor] = (versionIn(lock, /^ {4}(?:rails|activerecord) \((\d+\.\d+)/m) ?? "8.0").split(".").map(Number);
  const bundler = versionIn(lock, /^BUNDLED WITH\s+(\d+\.\d+)/m) ?? "9.0";
  const rails = (major ?? 0) * 10 + (minor ?? 0);
  if (rails < 50) return "2.6";
  if (rails < 61 || Number(bundler) < 2.2) return "2.7";
  return rails < 70 ? "3.0" : rails < 72 ? "3.3" : undefined;
}

function rubyVersion(tree: SourceTree): string {
  const exact =
    versionIn(tree.read(".ruby-version"), /^(?:ruby-)?(\d[\d.]*)/) ??
    versionIn(tree.read("Gemfile"), /^[ \t]*ruby (?:ENV[^\n"']{0,9}["']\w{1,40}["'][^\n"']{0,9})?["'](\d[\d.]*)["']/m);
  const range = /^[ \t]*ruby ["']([^"'\n]+)["']/m.exec(tree.read("Gemfile") ?? "")?.[1];
  const locked = versionIn(tree.read("Gemfile.lock") ?? "", /^RUBY VERSION\s+ruby (\d+\.\d+\.\d+)/m);
  const inRange = locked !== undefined && newestIn(range, [locked]) !== undefined ? locked : newestIn(range, known);
  const named = exact ?? inRange ?? hintedVersion(tree, "RUBY_VERSION");
  return named ?? byLock(tree) ?? known[0] ?? "";
}

function install(tree: SourceTree, more: readonly string[]): (string | undefined)[] {
  // A gem of the folder itself has to be there for an install.
  const isLocal =
    /^[ \t]*gemspec\b|^[ \t]*gem [^\n]{1,100}\bpath:|^[ \t]*path ["']|\bFile\.(?:read|exist)|^[ \t]*(?:load|require|require_relative|instance_eval)\b|\beval_gemfile\b/m.test(
      tree.read("Gemfile") ?? "",
    );
  return [
    "WORKDIR /app",
    aptLine(...new Set(["build-essential", "git", "libpq-dev", "libyaml-dev", ...gemLibraries(tree), ...more])),
    isLocal
      ? "COPY . ."
      : `COPY ${["Gemfile", "Gemfile.lock", ".ruby-version"].filter((file) => tree.has(file)).join(" ")} ./`,
    "RUN bundle config set without development:test && bundle install",
    isLocal ? undefined : "COPY . .",
  ];
}

interface Server {
  port: number;
  start: string[];
  build?: (string | undefined)[];
  tools?: string[];
  notes?: string[];
}

function served(tree: SourceTree, version: string, { port, start, build = [], tools = [], notes = [] }: Server): Plan {
  return {
    port,
    notes: [...notes, ...ageNote(version)],
    isTold: !start.includes("ruby") || isToldSinatra(tree, start),
    noStart: start.length === 0 ? noStart : undefined,
    dockerfile: lines(
      `ARG BASE=ruby:${version}-slim`,
      "FROM ${BASE}",
      ...install(tree, tools),
      ...build,
      `ENV PORT=${port}`,
      "RUN useradd --no-create-home app && chown -R app /app",
      "USER app",
      `EXPOSE ${port}`,
      start.length > 0 && command(...start),
    ),
  };
}

/** The oldest Ruby whose images are still there in this form. */
function ageNote(version: string): string[] {
  const [major = 9, minor = 0] = version.split(".").map(Number);
  return major * 10 + minor < 25
    ? [
        `Ruby ${version} is so old that its image may be gone, and its packages with it: move to a newer one, or write a Dockerfile`,
      ]
    : [];
}

/** Sinatra listens where its command says, unless its own file names a port. */
function isToldSinatra(tree: SourceTree, start: readonly string[]): boolean {
  const text = start.map((word) => (word.endsWith(".rb") ? (tree.read(word) ?? "") : "")).join("");
  return start.includes("-p") && !/\bset[ (]{1,3}:port\b/.test(text);
}

/** Another framework may have a config/application.rb of its own. */
function isRails(tree: SourceTree): boolean {
  const isIn = (text: string | undefined) => /\brail(?:s|ties)\b/i.test(text ?? "");
  const named = ["Gemfile", "Gemfile.lock", "config/application.rb"].some((file) => isIn(tree.read(file)));
  return (
    tree.has("Gemfile") &&
    tree.has("config/application.rb") &&
    (named || tree.has("bin/rails") || !hasGem(tree, "rack"))
  );
}

/** With a package.json, its packages are installed for the assets. */
export const rails: Runtime = {
  name: "ruby",
  mark: (tree) => (isRails(tree) ? "Gemfile, rails" : undefined),
  plan(tree, { version, entrypoint }) {
    const hasAssets = tree.has("package.json");
    const packager = packagerOf(tree, readPackage(tree));
    const tool = packager.name === "npm" ? "" : `npm install -g ${packager.name} && `;
    const hasPuma =
      hasGem(tree, "puma") ||
      /^ {4}puma \(/m.test(tree.read("Gemfile.lock") ?? "") ||
      (tree.read("Gemfile") ?? "").trim() === "";
    const server = hasPuma ? ["puma", "-p", "3000"] : ["rails", "server", "-b", "0.0.0.0", "-p", "3000"];
    const start = entrypoint === undefined ? server : ["ruby", entrypoint];
    return served(tree, version ?? rubyVersion(tree), {
      port: 3000,
      tools: hasAssets ? ["nodejs", "npm"] : [],
      build: [
        hasAssets ? `RUN ${tool}${packager.install}` : undefined,
        "ENV RAILS_ENV=production RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1",
        `RUN ${dummy(tree)} bundle exec rails assets:precompile`,
      ],
      start: ["bundle", "exec", ...start],
      notes: [
        ...(tree.has("config/database.yml") ? [noMigration] : []),
        ...(tree.has("config/credentials.yml.enc")
          ? ["config/credentials.yml.enc needs its key: set RAILS_MASTER_KEY with berth config set"]
          : ["Rails needs a secret to start: set SECRET_KEY_BASE with berth config set"]),
      ],
    });
  },
};

/** What a build gives in place of the secret; older Rails asks for the variable itself. */
function dummy(tree: SourceTree): string {
  const [major = 8, minor = 0] = (versionIn(tree.read("Gemfile.lock") ?? "", /^ {4}rails \((\d+\.\d+)/m) ?? "8.0")
    .split(".")
    .map(Number);
  return major * 10 + minor < 71 ? "SECRET_KEY_BASE=dummy" : "SECRET_KEY_BASE_DUMMY=1";
}

const noMigration =
  'no migration runs by itself; to run them before each version, write release: { command: ["bundle", "exec", "rails", "db:migrate"] }';

export const ruby: Runtime = {
  name: "ruby",
  mark: (tree) => firstOf(tree, ["Gemfile"]),
  plan(tree, choice) {
    const { version = rubyVersion(tree), entrypoint } = choice;
    if (isRails(tree)) return rails.plan(tree, choice);
    if (entrypoint === undefined && isJekyll(tree)) return jekyll(tree, version);
    const start = startOf(tree, choice) ?? [];
    // Rack has had no server of its own since Ruby 3.0.
    const needsServer = start.includes("rackup") && !hasGem(tree, rackServers);
    return served(tree, version, {
      port: 9292,
      start: needsServer ? puma : start,
      build: needsServer ? ["RUN bundle add puma"] : [],
      notes: needsServer ? ["puma is added to the Gemfile in the image, to serve config.ru; add it there"] : [],
    });
  },
};

function isJekyll(tree: SourceTree): boolean {
  const spec = tree
    .list("")
    .filter((name) => name.endsWith(".gemspec"))
    .map((name) => tree.read(name) ?? "");
  const isIn = /\bjekyll\b/.test([tree.read("Gemfile") ?? "", ...spec].join("\n"));
  return hasGem(tree, "(?:jekyll|github-pages)") || (tree.has("_config.yml") && isIn);
}

const noStart =
  "no file that starts the Ruby program was found (config.ru, app.rb, main.rb, server.rb): set build.lang.entrypoint";

const puma = ["bundle", "exec", "puma", "-b", "tcp://0.0.0.0:9292"];
const rackServers = "(?:puma|webrick|thin|unicorn|falcon|passenger|iodine|agoo)";

function startOf(tree: SourceTree, { entrypoint }: LanguageChoice): string[] | undefined {
  if (entrypoint !== undefined) return ["bundle", "exec", "ruby", entrypoint];
  if (tree.has("config.ru")) {
    const server = hasGem(tree, "puma") ? puma.slice(2) : ["rackup", "-o", "0.0.0.0", "-p", "9292"];
    return ["bundle", "exec", ...server];
  }
  const file = firstOf(tree, ["app.rb", "main.rb", "server.rb"]) ?? sinatraFile(tree);
  if (file !== undefined)
    return ["bundle", "exec", "ruby", file, ...(hasGem(tree, "sinatra") ? ["-o", "0.0.0.0", "-p", "9292"] : [])];
  return hintedStart(tree);
}

/** The only file that is a program of Sinatra by itself. */
function sinatraFile(tree: SourceTree): string | undefined {
  const files = tree.list("").filter((name) => name.endsWith(".rb") && plainName(name) !== undefined);
  const found = files.filter((name) => /^[ \t]*require ["']sinatra["']/m.test(tree.read(name) ?? ""));
  return found.length === 1 ? found[0] : undefined;
}

function jekyll(tree: SourceTree, version: string): Plan {
  return {
    ...servedByNginx,
    notes: [
      "jekyll makes pages in _site, which nginx serves",
      ...(readPackage(tree).scripts.build === undefined
        ? []
        : [
            'the script "build" of package.json does not run; if the pages need what it makes, commit that, or write a Dockerfile',
          ]),
    ],
    dockerfile: `${lines(`ARG BASE=ruby:${version}-slim`, pagesBase, "FROM ${BASE} AS build", ...install(tree, []), "RUN JEKYLL_ENV=production bundle exec jekyll build")}${servePages("/app/_site", "pages")}`,
  };
}
