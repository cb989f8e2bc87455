import { readHints } from "./hints/hints.ts";
import { hideManifests } from "./pages.ts";
import { assetLines, beginsInOne, extensionsOf, urlOf } from "./php-parts.ts";
import {
  aptLine,
  fieldsOf,
  firstOf,
  jsonOf,
  lines,
  newestIn,
  type Plan,
  type Runtime,
  type SourceTree,
} from "./runtime.ts";

const known = ["8.4", "8.3", "8.2", "8.1", "8.0", "7.4"];

interface Site {
  /** Folder that Apache serves, below the source; empty for all of it. */
  docroot: string;
  version: string | undefined;
  extensions: string[];
  /** Folders that the program writes into. */
  writes?: string[];
  notes?: string[];
  /** Lines behind the whole source. */
  after?: string[];
}

function phpVersion(tree: SourceTree): string {
  const { require, config } = jsonOf(tree, "composer.json");
  const platform = fieldsOf(fieldsOf(config).platform).php;
  const range = typeof platform === "string" ? `~${platform}` : fieldsOf(require).php;
  const asked = [typeof range === "string" ? range : undefined, ...lockedRanges(tree)].filter(
    (one) => one !== undefined,
  );
  const fits = known.find((version) => asked.every((one) => newestIn(one, [version]) !== undefined));
  return fits ?? newestIn(asked[0], known) ?? known[0] ?? "";
}

/** Whether composer.json asks for a version that has an image. */
function fitsKnown(tree: SourceTree): boolean {
  const { require, config } = jsonOf(tree, "composer.json");
  const platform = fieldsOf(fieldsOf(config).platform).php;
  const range = typeof platform === "string" ? `~${platform}` : fieldsOf(require).php;
  return typeof range !== "string" || newestIn(range, known) !== undefined;
}

/** What the packages of composer.lock ask of PHP: an install refuses a version that one of them does not know. */
function lockedRanges(tree: SourceTree): string[] {
  const { packages } = jsonOf(tree, "composer.lock");
  const ranges = (Array.isArray(packages) ? packages : []).map((one) => fieldsOf(fieldsOf(one).require).php);
  return [...new Set(ranges.filter((range): range is string => typeof range === "string"))];
}

function apache(tree: SourceTree, { docroot, version, extensions, writes = [], notes = [], after = [] }: Site): Plan {
  const hasComposer = tree.has("composer.json");
  const lock = tree.has("composer.lock") ? " composer.lock" : "";
  const assets = assetLines(tree);
  const root = docroot === "" ? "/var/www/html" : `/var/www/html/${docroot}`;
  const all = [...new Set([...extensions, ...extensionsOf(tree)])];
  const asksLate =
    hasComposer &&
    lock === "" &&
    Object.keys(fieldsOf(jsonOf(tree, "composer.json").require)).some((name) => name.includes("/"));
  return {
    port: 80,
    isTold: true,
    adapt: (line) =>
      isOtherServer(line) ? { instead: `Apache with ${docroot === "" ? "the folder" : docroot}` } : { command: line },
    notes: [
      ...notes,
      ...(version === undefined && !fitsKnown(tree)
        ? [`composer.json asks for a PHP that has no image, so ${known[0]} is taken; move it to a newer one`]
        : []),
      ...rewriteNotes(tree, docroot),
      ...(assets.length > 0 ? ["the assets of package.json are built beside; nothing of Node runs"] : []),
    ],
    dockerfile: lines(
      `ARG BASE=php:${version ?? phpVersion(tree)}-apache`,
      ...assets,
      "FROM ${BASE}",
      `ENV APACHE_DOCUMENT_ROOT=${root}`,
      "RUN a2enmod rewrite && sed -ri 's!/var/www/html!${APACHE_DOCUMENT_ROOT}!g' /etc/apache2/sites-available/*.conf",
      (all.length > 0 || asksLate) &&
        "COPY --from=mlocati/php-extension-installer:2 /usr/bin/install-php-extensions /usr/local/bin/",
      all.length > 0 && `RUN install-php-extensions ${all.join(" ")}`,
      hasComposer && aptLine("git", "unzip"),
      hasComposer && "COPY --from=composer:2 /usr/bin/composer /usr/bin/composer",
      hasComposer && `COPY composer.json${lock} ./`,
      hasComposer &&
        "RUN composer install --no-dev --no-scripts --no-autoloader --no-interaction --ignore-platform-req=ext-*",
      // Without a lock file, only the packages that were found say which extensions they take.
      asksLate &&
        `RUN composer check-platform-reqs --no-dev --format=json 2>/dev/null | php -r '${lateExtensions}' | xargs -r install-php-extensions`,
      "COPY . .",
      docroot === "" && hideManifests(""),
      beginsInOne(tree, docroot),
      hasComposer && "RUN composer dump-autoload --no-dev --optimize",
      assets.length > 0 && "COPY --from=assets /src/public/ public/",
      ...after,
      writes.length > 0 &&
        `RUN mkdir -p ${writes.join(" ")} && chown -R www-data ${[...new Set(writes.map(topOf))].join(" ")}`,
      "EXPOSE 80",
    ),
  };
}

/** Rules of Apache for another path than the root, from which the app is served. */
function rewriteNotes(tree: SourceTree, docroot: string): string[] {
  const file = docroot === "" ? ".htaccess" : `${docroot}/.htaccess`;
  const base = /^[ \t]*RewriteBase[ \t]+(\/[\w-][^\s]{0,100})/m.exec(tree.read(file) ?? "")?.[1];
  return base === undefined
    ? []
    : [`${file} is written for the path ${base}, and the app is served from the root: write RewriteBase / there`];
}

/** The names of missing extensions, of what Composer says. */
const lateExtensions =
  'foreach (json_decode(stream_get_contents(STDIN), true) ?: [] as $one) if ($one["status"] === "missing" && strpos($one["name"], "ext-") === 0) echo substr($one["name"], 4), " ";';

/** The last word of `heroku-php-apache2 public/` and of `php -S 0.0.0.0:80 -t public`. */
function hintedRoot(line: string): string | undefined {
  const words = line.slice(0, 500).trim().split(/\s+/);
  const isServer = words.some((word) => word.includes("heroku-php-") || word === "-S");
  const last = words.at(-1)?.replace(/\/$/, "") ?? "";
  return isServer && words.length > 1 && /^[\w-]+$/.test(last) ? last : undefined;
}

/** Web servers that others bring, or that are for developers. */
function isOtherServer(line: string): boolean {
  return /heroku-php-|\bphp (?:-\w+ ){0,4}-S\b|\bartisan (?:serve|octane)|\b(?:apache2|nginx|frankenphp|php-fpm)/.test(
    line,
  );
}

/** `storage/logs` → `storage`; the folder bootstrap holds source, of which only the cache is written. */
function topOf(path: string): string {
  return path.startsWith("bootstrap/") ? path : (path.split("/")[0] ?? path);
}

export const laravel: Runtime = {
  name: "php",
  mark: (tree) => (tree.has("artisan") && tree.has("composer.json") ? "composer.json, laravel" : undefined),
  plan: (tree, { version }) =>
    apache(tree, {
      ...{ docroot: "public", version, extensions: ["pdo_mysql", "pdo_pgsql", "bcmath", "intl", "pcntl", "zip"] },
      writes: [
        "storage/framework/cache",
        "storage/framework/sessions",
        "storage/framework/views",
        "storage/logs",
        "bootstrap/cache",
      ],
      notes: [
        migrates(["php", "artisan", "migrate", "--force"]),
        `Laravel needs a key to start and its database: set APP_KEY (php artisan key:generate --show), DB_CONNECTION and ${urlOf(tree)} with berth config set`,
        'needs a volume where it keeps uploads: volumes: ["storage:/var/www/html/storage/app"] and volume_owner: "33:33"',
        ...(/DB_CONNECTION',\s{0,4}'sqlite'/.test(tree.read("config/database.php") ?? "")
          ? [
              "the database is SQLite unless DB_CONNECTION says otherwise, and a new version begins without its file: set DB_CONNECTION and its URL",
            ]
          : []),
      ],
    }),
};

export const symfony: Runtime = {
  name: "php",
  mark: (tree) => (tree.has("bin/console") && tree.has("composer.json") ? "composer.json, symfony" : undefined),
  plan: (tree, { version }) =>
    apache(tree, {
      docroot: "public",
      version,
      extensions: ["pdo_mysql", "pdo_pgsql", "intl", "zip"],
      writes: ["var"],
      // A file .env is not sent, and Symfony asks for one.
      after: [
        "ENV APP_ENV=prod APP_DEBUG=0",
        "RUN touch .env",
        ...(tree.has("importmap.php")
          ? ["RUN php bin/console importmap:install && php bin/console asset-map:compile"]
          : []),
      ],
      notes: [
        "Symfony runs with APP_ENV=prod and an empty .env: set APP_SECRET, and DATABASE_URL if it has a database, with berth config set",
        ...(tree.has("migrations")
          ? [migrates(["php", "bin/console", "doctrine:migrations:migrate", "--no-interaction"])]
          : []),
      ],
    }),
};

function migrates(command: string[]): string {
  return `no migration runs by itself; to run them before each version, write release: { command: ${JSON.stringify(command).replaceAll(",", ", ")} }`;
}

/** Folders that programs write into, by custom. */
const writable =
  "logs log var cache tmp temp storage runtime writable uploads public/uploads public/assets web/assets data".split(
    " ",
  );
const docroots = ["public", "web", "webroot", "www", "htdocs", "public_html"];

export const php: Runtime = {
  name: "php",
  mark(tree) {
    const pages = ["index.php", ...docroots.map((folder) => `${folder}/index.php`)];
    return firstOf(tree, ["composer.json", "wp-config.php", ...pages]);
  },
  plan(tree, choice) {
    for (const one of [laravel, symfony]) if (one.mark(tree) !== undefined) return one.plan(tree, choice);
    const isWordpress = tree.has("wp-config.php") || tree.has("wp-content");
    const hinted = readHints(tree)
      .processes.map(({ command: line }) => hintedRoot(line))
      .find((folder) => tree.has(`${folder}/index.php`));
    const docroot = hinted ?? docroots.find((folder) => tree.has(`${folder}/index.php`)) ?? "";
    if (docroot === "" && !tree.has("index.php") && choice.entrypoint === undefined) {
      return {
        problem: `PHP has no page to begin with (index.php, or one in ${docroots.join(", ")}): write a Dockerfile`,
      };
    }
    const { version } = choice;
    const site = { docroot, version, extensions: isWordpress ? ["mysqli", "gd", "zip", "exif", "intl"] : [] };
    const wordpress = isWordpress
      ? [
          'needs a volume: what visitors upload and plugins that are installed lie in wp-content; to keep them, write volumes: ["content:/var/www/html/wp-content"] and volume_owner: "33:33"',
          "needs MySQL or MariaDB: run it as an app of its own, and give its address to wp-config.php",
        ]
      : [];
    const notes =
      docroot === ""
        ? [
            "Apache serves every file of the folder; what visitors must not see belongs beside a folder public with index.php",
          ]
        : [];
    return apache(tree, {
      ...site,
      notes: [...notes, ...wordpress],
      writes: isWordpress ? ["wp-content"] : writable.filter((folder) => tree.has(folder)),
    });
  },
};
