import dockerignore from "@balena/dockerignore";
import gitignore from "ignore";

/** Says of a path below the folder whether it is left out; a folder's path ends in "/". */
export interface IgnoreRules {
  leavesOut(path: string): boolean;
  /** Nothing in a folder that is left out can come back, so it need not be looked into. */
  prunes: boolean;
}

/** Never part of an image: secrets, and what the image makes anew. */
const secrets = /(?:^|\/)(?:\.env(?:\..+)?|.+\.pem|.+\.key|id_(?:rsa|dsa|ecdsa|ed25519)|\.npmrc|\.netrc)$/;
/** `prod.env`, `prod.env.local`: any name before it, as in `env_file: prod.env`. */
const namedEnv = /(?:^|\/)[^/]+\.env(?:\.[^/]+)?$/;
const samples = /\.env\.(?:example|sample|template|dist)$/;
/** `config/prod.env.js` is part of the program. */
const sourceCode = /\.env(?:\.d)?\.(?:[cm]?[jt]sx?|py|rb|php|go|rs|java|kt|exs?)$/;
const clutter = /(?:^|\/)(?:\.git|node_modules|\.DS_Store|\.berth)(?:\/|$)/;

/** A secret by its name, which never leaves the machine. */
export function isSecretFile(path: string): boolean {
  if (samples.test(path)) return false;
  return secrets.test(path) || (namedEnv.test(path) && !sourceCode.test(path));
}

/** What is left out of every folder. */
export function isClutter(path: string): boolean {
  return clutter.test(path);
}

/** The rules of a `.dockerignore`: from the root of the folder, and what is left out may come back. */
export function dockerRules(text: string): IgnoreRules {
  const rules = dockerignore({ ignorecase: false }).add(text);
  return { leavesOut: (path) => rules.ignores(path.replace(/\/$/, "")), prunes: !/^\s*!/m.test(text) };
}

/** The rules of a `.gitignore` in the folder `below` (empty for the root): they hold in it and in what it holds. */
export function gitRules(text: string, below: string): IgnoreRules {
  const rules = gitignore({ ignorecase: false }).add(text);
  return {
    leavesOut: (path) => path.startsWith(below) && path !== below && rules.ignores(path.slice(below.length)),
    prunes: true,
  };
}
