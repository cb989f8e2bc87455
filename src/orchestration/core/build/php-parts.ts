import { sourcesOf } from "./evidence/sources.ts";
import { readPackage } from "./node/package-json.ts";
import { packagerOf } from "./node/packager.ts";
import { fieldsOf, jsonOf, type SourceTree } from "./runtime.ts";

/** What code that calls an extension looks like. */
const calls: readonly [extension: string, code: RegExp][] = [
  [
    "pdo_mysql",
    /\bmysql:(?:\w{1,20}=)|\bpdo_mysql\b|["'](?:driver|adapter|dialect)["'] {0,9}(?:=>|[:=]) {0,9}["']mysql["']/,
  ],
  [
    "pdo_pgsql",
    /\bpgsql:(?:\w{1,20}=)|\bpdo_pgsql\b|["'](?:driver|adapter|dialect)["'] {0,9}(?:=>|[:=]) {0,9}["']pgsql["']/,
  ],
  ["mysqli", /\bmysqli(?:_\w{1,30})?\(|["'](?:mysqli|MySQLi)["']/],
  ["pgsql", /\bpg_(?:p?connect|query)\(/],
  ["gd", /\bimagecreate\w{0,30}\(/],
  ["imagick", /\bnew \\?Imagick\b/],
  ["intl", /\bnew \\?(?:NumberFormatter|IntlDateFormatter|Collator|MessageFormatter)\b|\bIntl\w{1,20}::/],
  ["zip", /\bnew \\?ZipArchive\b/],
  ["soap", /\bnew \\?Soap(?:Client|Server)\b/],
  ["bcmath", /\bbc(?:add|sub|mul|div|mod|pow|comp)\(/],
  ["gmp", /\bgmp_(?:init|add|mul)\(/],
  ["exif", /\bexif_(?:read_data|imagetype)\(/],
  ["ldap", /\bldap_connect\(/],
  ["imap", /\bimap_open\(/],
  ["sockets", /\bsocket_create\(/],
  ["pcntl", /\bpcntl_(?:fork|signal)\(/],
  ["redis", /\bnew \\?Redis\(/],
  ["memcached", /\bnew \\?Memcached\(/],
  ["mongodb", /\bMongoDB\\(?:Client|Driver)\b/],
];
/** Packages that speak to a database by PDO, and leave it to settings to which. */
const layers =
  /^(?:illuminate\/database|doctrine\/(?:dbal|orm|doctrine-bundle)|cakephp\/(?:database|cakephp)|yiisoft\/(?:yii2|yii|db-mysql)|codeigniter4\/framework|laminas\/laminas-db|propel\/propel|robmorgan\/phinx|catfan\/medoo|nette\/database|gabordemooij\/redbean|flarum\/core|flightphp\/active-record|phalcon\/\w{1,30}|spiral\/database|cycle\/(?:database|orm))$/;

/** Extensions that composer.json, a package of composer.lock or the code asks for; not those that every image of PHP has. */
export function extensionsOf(tree: SourceTree): string[] {
  const there = new Set(
    "json mbstring xml dom ctype curl openssl tokenizer fileinfo filter hash iconv pdo phar session simplexml sodium xmlreader xmlwriter zlib libxml posix readline ftp random pcre spl reflection date standard pdo_sqlite sqlite3".split(
      " ",
    ),
  );
  const { packages } = jsonOf(tree, "composer.lock");
  const own = Object.keys(fieldsOf(jsonOf(tree, "composer.json").require));
  const locked = (Array.isArray(packages) ? packages : []).map((one) => fieldsOf(one));
  const names = [...own, ...locked.flatMap(({ require }) => Object.keys(fieldsOf(require)))];
  const asked = names.flatMap((name) => /^ext-(\w{1,40})$/.exec(name)?.[1]?.toLowerCase() ?? []);
  const isByPdo = [...own, ...locked.map(({ name }) => name)].some(
    (name) => typeof name === "string" && layers.test(name),
  );
  const { files } = sourcesOf(tree, "php");
  const called = calls.filter(([, code]) => files.some(({ text }) => code.test(text))).map(([name]) => name);
  return [...(isByPdo ? ["pdo_mysql", "pdo_pgsql"] : []), ...called, ...asked].filter((name) => !there.has(name));
}

/** A stage that builds the assets of Laravel or Symfony into public. */
export function assetLines(tree: SourceTree): string[] {
  if (!tree.has("package.json") || !tree.has("public")) return [];
  const found = readPackage(tree);
  if (found.scripts.build === undefined) return [];
  const { install, run, prepare, name } = packagerOf(tree, found);
  return [
    ...(takesVendor(tree)
      ? [
          ...["FROM composer:2 AS vendor", "WORKDIR /src", "COPY . ."],
          "RUN composer install --no-dev --no-scripts --no-interaction --ignore-platform-reqs",
        ]
      : []),
    `FROM ${name === "bun" ? "oven/bun:1" : "node:22-slim"} AS assets`,
    "WORKDIR /src",
    ...(prepare === undefined ? [] : [`RUN ${prepare}`]),
    "COPY . .",
    ...(takesVendor(tree) ? ["COPY --from=vendor /src/vendor vendor/"] : []),
    `RUN ${install} && ${run} build`,
  ];
}

/** Whether the assets take styles or scripts from packages of PHP. */
function takesVendor(tree: SourceTree): boolean {
  const folders = ["", "resources/css/", "resources/js/", "resources/sass/", "assets/", "assets/styles/"];
  const files = folders.flatMap((folder) =>
    tree
      .list(folder.replace(/\/$/, ""))
      .filter((name) => /\.(?:css|scss|[cm]?[jt]s|json)$/.test(name) && !/lock|^composer/.test(name))
      .map((name) => folder + name),
  );
  return files.slice(0, 60).some((file) => /["'`(./]vendor\//.test((tree.read(file) ?? "").slice(0, 64 * 1024)));
}

/** The variable with the address of the database; the eleventh Laravel gave it another name. */
export function urlOf(tree: SourceTree): string {
  const said = /'url'\s{0,9}=>\s{0,9}env\('(\w{1,40})'/.exec(tree.read("config/database.php") ?? "")?.[1];
  const major = /\d+/.exec(String(fieldsOf(jsonOf(tree, "composer.json").require)["laravel/framework"]))?.[0];
  return said ?? (Number(major ?? 11) < 11 ? "DATABASE_URL" : "DB_URL");
}

/** Requests for no file all begin in one, which an .htaccess would say: beside a folder of pages, or where the file asks for the path. */
export function beginsInOne(tree: SourceTree, docroot: string): string | undefined {
  const at = docroot === "" ? "" : `${docroot}/`;
  const asks = at !== "" || /REQUEST_URI|PATH_INFO/.test(tree.read("index.php") ?? "");
  return tree.has(`${at}.htaccess`) || !asks
    ? undefined
    : "RUN echo 'FallbackResource /index.php' >/etc/apache2/conf-enabled/one-page.conf";
}
