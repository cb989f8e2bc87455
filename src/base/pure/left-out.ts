/** Never part of an image: secrets, and what the image makes again. */
const secrets = /(?:^|\/)(?:\.env(?:\..+)?|.+\.pem|.+\.key|id_(?:rsa|dsa|ecdsa|ed25519)|\.npmrc|\.netrc)$/;
/** `prod.env`, `prod.env.local`: any name before it, as in `env_file: prod.env`. */
const namedEnv = /(?:^|\/)[^/]+\.env(?:\.[^/]+)?$/;
const samples = /\.env\.(?:example|sample|template|dist)$/;
/** `config/prod.env.js` is part of the program. */
const sourceCode = /\.env(?:\.d)?\.(?:[cm]?[jt]sx?|py|rb|php|go|rs|java|kt|exs?)$/;
const bulk = /(?:^|\/)(?:\.git|node_modules|\.DS_Store)(?:\/|$)/;
const own = /(?:^|\/)\.berth(?:\/|$)/;

/** A secret by its name, which never leaves the machine. */
export function isSecretFile(path: string): boolean {
  if (samples.test(path)) return false;
  return secrets.test(path) || (namedEnv.test(path) && !sourceCode.test(path));
}

/** What no build needs, and what would be most of an upload. */
export function isBulk(path: string): boolean {
  return bulk.test(path);
}

/** What is left out of every folder that is built from. */
export function isClutter(path: string): boolean {
  return bulk.test(path) || own.test(path);
}

/** Files of settings, which a build may need. Those of a person's own machine (`.env`, `.env.local`) are not among them. */
const settings = /(?:^|\/)(?:\.npmrc|\.env\.(?!(?:[\w.-]*\.)?local$)[\w.-]+)$/;

/** Settings that look like secrets, and hold none: a line such as `!.npmrc` of a `.berthignore` says so. */
export function namedFiles(berthignore: string): ReadonlySet<string> {
  const paths = [...berthignore.matchAll(/^!\/?([^*?[\]\s]+)[ \t]*\r?$/gm)].map(([, path = ""]) => path);
  return new Set(paths.filter((path) => settings.test(path)));
}
